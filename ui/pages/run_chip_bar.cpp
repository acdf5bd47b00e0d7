#include "ui/pages/run_chip_bar.h"

#include "ui/models/runs_model.h"
#include "ui/pages/curve_looks.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>

namespace lockstep {

namespace {

// Line in the style of the plots.
class Swatch : public QWidget
{
public:
    Swatch(RunRole role, int place, QWidget* parent) : QWidget(parent), role_(role), place_(place)
    {
        setFixedSize(24, 12);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const PlotTheme theme = PlotTheme::forApplication();
        const CurveLook look = lookOf(role_, place_, theme);
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const double width = look.style == CurveStyle::Single ? 3
                             : look.style == CurveStyle::Mean ? 1.8
                                                              : 1.2;
        QPen pen(look.style == CurveStyle::Twin ? theme.twinAlone : look.color, width);
        if (look.style == CurveStyle::Twin)
            pen.setDashPattern({4, 3});
        if (look.style == CurveStyle::Mean)
            painter.fillRect(QRectF(0, 2, 24, 8), theme.range);
        painter.setPen(pen);
        painter.drawLine(QPointF(0, 6), QPointF(24, 6));
    }

private:
    RunRole role_;
    int place_;
};

} // namespace

RunChipBar::RunChipBar(QWidget* parent)
    : QWidget(parent), chips_(new QHBoxLayout), add_(linkButton(tr("Add run"), this)), menu_(new QMenu(this))
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    chips_->setSpacing(8);
    row->addLayout(chips_);
    row->addWidget(add_);
    add_->setIcon(icon(QStringLiteral("plus"), Tone::Accent));
    add_->setObjectName(QStringLiteral("addRun"));
    connect(add_, &QPushButton::clicked, this, [this] {
        fillMenu();
        menu_->popup(add_->mapToGlobal(QPoint(0, add_->height())));
    });
}

void RunChipBar::setRuns(const ProjectSnapshotPtr& snapshot, const QStringList& chosen)
{
    snapshot_ = snapshot;
    chosen_ = chosen;
    QString shown;
    for (const QString& id : chosen)
        if (const RunEntry* run = snapshot->run(id))
            shown += id + run->name() + QLatin1Char('\n');
    if (shown == shown_)
        return;
    shown_ = shown;
    while (QLayoutItem* item = chips_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    std::vector<const RunEntry*> runs;
    for (const QString& id : chosen)
        if (const RunEntry* run = snapshot->run(id))
            runs.push_back(run);
    for (const auto& [run, role, place] : placeRuns(runs)) {
        const QString id = run->id();
        auto* chip = new QFrame(this);
        chip->setObjectName(QStringLiteral("chip"));
        chip->setFixedHeight(26);
        auto* row = new QHBoxLayout(chip);
        row->setContentsMargins(8, 1, 2, 1);
        row->setSpacing(6);
        row->addWidget(new Swatch(role, place, chip));
        const bool several =
            run->config.mode != "single" && run->config.mode != "twin" && run->config.world > 1;
        auto* name = new ElidedLabel("note", chip);
        name->setFullText(several ? tr("%1, %2 ranks").arg(run->name()).arg(run->config.world) : run->name());
        name->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
        row->addWidget(name);
        auto* cross = new QToolButton(chip);
        cross->setIcon(icon(QStringLiteral("close"), Tone::Hint));
        cross->setIconSize({9, 9});
        cross->setFixedSize(18, 18);
        cross->setToolTip(tr("Take %1 off").arg(run->name()));
        cross->setAccessibleName(cross->toolTip());
        row->addWidget(cross);
        connect(cross, &QToolButton::clicked, this, [this, id] { Q_EMIT removed(id); });
        chips_->addWidget(chip);
    }
}

void RunChipBar::fillMenu()
{
    menu_->clear();
    if (!snapshot_)
        return;
    for (const RunEntry& run : snapshot_->runs) {
        if (chosen_.contains(run.id()))
            continue;
        QAction* action =
            menu_->addAction(QStringLiteral("%1   %2").arg(run.name(), runModeText(run.config)));
        connect(action, &QAction::triggered, this, [this, id = run.id()] { Q_EMIT added(id); });
    }
    if (menu_->isEmpty())
        menu_->addAction(tr("No further runs"))->setEnabled(false);
}

} // namespace lockstep
