#include "ui/pages/checkpoint_diff_panel.h"

#include "ui/models/format.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/icons.h"

#include <QCheckBox>
#include <QFileInfo>
#include <QProgressBar>
#include <QTimer>
#include <QVBoxLayout>

namespace lockstep {

CheckpointDiffPanel::CheckpointDiffPanel(QWidget* parent)
    : QWidget(parent),
      model_(new CheckpointDiffModel(this)),
      table_(new DataTable(this)),
      names_(new ElidedLabel("secondary", this)),
      summary_(wrappedLabel("note", {}, this)),
      progress_(new QProgressBar(this))
{
    setObjectName(QStringLiteral("checkpointDiff"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    progress_->setRange(0, 0);
    progress_->setTextVisible(false);
    progress_->hide();
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(16, 5, 8, 5);
    bar->setSpacing(12);
    auto* only = new QCheckBox(tr("differing only"), this);
    only->setChecked(true);
    auto* hide = new QToolButton(this);
    hide->setIcon(icon(QStringLiteral("close"), Tone::Secondary));
    hide->setToolTip(tr("Close the comparison (Esc)"));
    hide->setAccessibleName(tr("Close the comparison"));
    bar->addWidget(label("paneTitle", tr("Diff"), this));
    bar->addWidget(names_, 1);
    bar->addWidget(only);
    bar->addWidget(hide);
    column->addWidget(progress_);
    column->addLayout(bar);
    column->addWidget(horizontalLine(this));
    table_->setObjectName(QStringLiteral("checkpointDiffTable"));
    table_->setAccessibleName(tr("Tensors that differ"));
    table_->setModel(model_);
    table_->setColumnPlan(CheckpointDiffModel::Key, {CheckpointDiffModel::Relative, CheckpointDiffModel::Kind,
                                                     CheckpointDiffModel::Shape});
    column->addWidget(table_, 1);
    summary_->setContentsMargins(16, 6, 16, 8);
    column->addWidget(summary_);
    connect(only, &QCheckBox::toggled, model_, &CheckpointDiffModel::setDifferingOnly);
    connect(hide, &QToolButton::clicked, this, &CheckpointDiffPanel::close);
    QWidget::hide();
}

void CheckpointDiffPanel::compare(const QString& pathA, const QString& pathB)
{
    model_->setComparison(nullptr);
    summary_->clear();
    table_->setEmptyText(tr("Comparing"));
    names_->setFullText(
        tr("A %1 against B %2").arg(QFileInfo(pathA).fileName(), QFileInfo(pathB).fileName()));
    show();
    jobs_.start([pathA, pathB](const JobToken&) { return compareCheckpoints(pathA, pathB); },
                [this](const CheckpointComparisonPtr& comparison) { showComparison(comparison); });
    QTimer::singleShot(500, this, [this] { progress_->setVisible(jobs_.busy()); });
}

void CheckpointDiffPanel::showComparison(const CheckpointComparisonPtr& comparison)
{
    progress_->hide();
    const CheckpointComparison& c = *comparison;
    model_->setComparison(comparison);
    if (!c.error.isEmpty()) {
        table_->setEmptyText(c.error);
        return;
    }
    table_->setEmptyText(tr("Every tensor is equal in every bit."));
    QString names = tr("A %1 against B %2").arg(QFileInfo(c.pathA).fileName(), QFileInfo(c.pathB).fileName());
    if (!c.mapping.isEmpty())
        names += QStringLiteral(", ") + c.mapping;
    names_->setFullText(names);
    const int differ = c.matched - c.equal;
    summary_->setText(
        (c.mapping.isEmpty() ? tr("%1 matched by name, %2 only in A, %3 only in B.")
                             : tr("%1 matched by name after the strip, %2 only in A, %3 only in B."))
            .arg(formatCount(c.matched), formatCount(c.onlyA), formatCount(c.onlyB)) +
        QLatin1Char(' ') +
        tr("%1 equal in every bit, %2 differ, limit 0.").arg(formatCount(c.equal), formatCount(differ)));
}

void CheckpointDiffPanel::close()
{
    jobs_.cancel();
    progress_->hide();
    model_->setComparison(nullptr);
    hide();
}

} // namespace lockstep
