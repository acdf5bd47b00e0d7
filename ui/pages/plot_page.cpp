#include "ui/pages/plot_page.h"

#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/widgets/building_blocks.h"

#include <QDir>
#include <QEvent>
#include <QSplitter>

namespace lockstep {

namespace {

constexpr int kPanelFrom = 1100; // narrower pages start without the panel
constexpr int kPanelWidth = 348;

} // namespace

PlotPage::PlotPage(const PageContext& context, const QString& title, QWidget* parent)
    : Page(context, title, parent), banner_(new Banner(this)), columns_(new QSplitter(Qt::Horizontal, this))
{
}

void PlotPage::setContent(QWidget* plots, QWidget* panel)
{
    panel_ = panel;
    body()->addWidget(banner_);
    columns_->addWidget(plots);
    columns_->addWidget(panel);
    columns_->setStretchFactor(0, 1);
    columns_->setStretchFactor(1, 0);
    columns_->setCollapsible(0, false);
    columns_->setSizes({10000, kPanelWidth});
    body()->addWidget(columns_, 1);
}

void PlotPage::togglePanel()
{
    panelByUser_ = true;
    panel_->setVisible(!panel_->isVisible());
}

QJsonObject PlotPage::saveState() const
{
    QJsonObject state;
    if (panelByUser_)
        state.insert(QStringLiteral("panel"), panel_->isVisibleTo(this));
    return state;
}

void PlotPage::restoreState(const QJsonObject& state)
{
    if (!state.contains(QStringLiteral("panel")))
        return;
    panelByUser_ = true;
    panel_->setVisible(state.value(QStringLiteral("panel")).toBool());
}

bool PlotPage::escape()
{
    if (!banner_->isVisible())
        return false;
    banner_->clear();
    return true;
}

void PlotPage::savePicture(const QString& fileName)
{
    for (const QString& folder : {context().project.folder(), QDir::homePath()}) {
        const QString path = QDir(folder).filePath(fileName);
        if (columns_->grab().save(path)) {
            Q_EMIT statusTextChanged(tr("Saved %1").arg(formatFolder(path)));
            return;
        }
    }
    banner_->showMessage(
        State::Failed,
        tr("The picture could not be written. Neither the project nor the home folder can be written."));
}

void PlotPage::changeEvent(QEvent* event)
{
    Page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && panel_)
        themeChanged();
}

void PlotPage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    if (panel_ && !panelByUser_)
        panel_->setVisible(width() >= kPanelFrom);
}

} // namespace lockstep
