#include "ui/window/keys_panel.h"

#include "ui/widgets/building_blocks.h"

#include <QGridLayout>

namespace lockstep {

KeysPanel::KeysPanel(QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("pane"));
    setAttribute(Qt::WA_StyledBackground);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(20, 16, 20, 16);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(5);
    grid->addWidget(label("finding", tr("Keys"), this), 0, 0, 1, 5);
    const std::pair<QString, QString> keys[] = {
        {tr("Alt+1 to 8"), tr("pages")},
        {tr("Ctrl+1 to 5"), tr("phases and report")},
        {tr("Ctrl+K"), tr("go to page, run or step")},
        {tr("Ctrl+O"), tr("open a project folder")},
        {tr("F5, Shift+F5"), tr("new run, use my script")},
        {tr("F4"), tr("show or hide the panel at the right")},
        {tr("D"), tr("first divergent step")},
        {tr("L"), tr("next y scale: linear, log, symlog")},
        {tr("S"), tr("smoothing")},
        {tr("Left, Right"), tr("one step; with Shift ten")},
        {tr("Enter"), tr("pin the values at the cursor")},
        {tr("Wheel, Ctrl+wheel"), tr("zoom x, zoom y")},
        {tr("Drag, Shift+drag"), tr("pan, select a range")},
        {tr("F, double-click"), tr("fit")},
        {tr("Space, Shift+Space"), tr("mark run A, mark run B")},
        {tr("Del"), tr("delete a run, with undo")},
        {tr("Ctrl+Z, Ctrl+Shift+Z"), tr("undo, redo")},
        {tr("Esc"), tr("pin, selection, filter, panel; never stops a run")},
    };
    const int half = int(std::size(keys) + 1) / 2;
    for (int i = 0; i < int(std::size(keys)); ++i) {
        const int column = i < half ? 0 : 3;
        grid->addWidget(label("paneTitle", keys[i].first, this), 1 + i % half, column);
        grid->addWidget(label("secondary", keys[i].second, this), 1 + i % half, column + 1);
    }
    grid->setColumnMinimumWidth(2, 24);
    hide();
}

void KeysPanel::toggle()
{
    if (isVisible()) {
        hide();
        return;
    }
    adjustSize();
    const QSize room = parentWidget()->size();
    move((room.width() - width()) / 2, (room.height() - height()) / 2);
    raise();
    show();
}

} // namespace lockstep
