#include "ui/pages/config_diff_pane.h"

#include "ui/models/project_snapshot.h"
#include "ui/models/run_config_diff_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_tree.h"

#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kHeadPadding = 26;
constexpr int kWordsWidth = 720; // below, the names of the runs need the room

} // namespace

ConfigDiffPane::ConfigDiffPane(QWidget* parent)
    : QWidget(parent), diff_(new RunConfigDiffModel(this)), view_(new DataTree(this, 26))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(20, 5, 16, 5);
    bar->setSpacing(12);
    title_ = new ElidedLabel("secondary", this, Qt::ElideRight);
    summary_ = new ElidedLabel("note", this, Qt::ElideRight);
    for (ElidedLabel* text : {title_, summary_}) // beside an open form
        text->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    summary_->setWholePhrases(true);
    auto* only = new QCheckBox(tr("differing only"), this);
    only->setChecked(true);
    copy_ = button(tr("Copy as Markdown"), QStringLiteral("copy"), this);
    copy_->setProperty("small", true);
    bar->addWidget(label("paneTitle", tr("Config diff"), this));
    bar->addWidget(title_);
    bar->addStretch(1);
    bar->addWidget(summary_);
    bar->addWidget(only);
    bar->addWidget(copy_);
    column->addLayout(bar);
    column->addWidget(horizontalLine(this));

    view_->setAccessibleName(tr("Differing configuration keys"));
    view_->setModel(diff_);
    view_->setIndentation(0); // groups are always open
    view_->setSelectionMode(QAbstractItemView::NoSelection);
    column->addWidget(view_, 1);
    connect(diff_, &QAbstractItemModel::modelReset, this, [this] {
        view_->expandAll();
        for (int group = 0; group < diff_->rowCount(); ++group)
            view_->setFirstColumnSpanned(group, {}, true);
    });
    connect(only, &QCheckBox::toggled, diff_, &RunConfigDiffModel::setDifferingOnly);
    connect(copy_, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(diff_->markdown()); });
    setRuns(nullptr, nullptr);
}

void ConfigDiffPane::setRuns(const RunEntry* a, const RunEntry* b)
{
    const bool both = a && b && a->configReadable && b->configReadable;
    if (!both) {
        diff_->setRuns({}, {}, a ? a->name() : QString(), b ? b->name() : QString());
        title_->setFullText(tr("Mark two runs: Space for A, Shift+Space for B."));
    } else {
        diff_->setRuns(a->config, b->config, a->name(), b->name());
        title_->setFullText(tr("A %1 against B %2").arg(a->name(), b->name()));
        layoutColumns();
    }
    summary_->setFullText(diff_->summary());
    copy_->setEnabled(both);
}

// A value column has room for the name of its run, as far as there is room.
void ConfigDiffPane::layoutColumns()
{
    const int width = this->width(); // that of the view is old until it is seen
    const QFontMetrics head(view_->header()->font());
    view_->setColumnWidth(RunConfigDiffModel::Key, std::max(120, width / 6));
    for (const int column : {RunConfigDiffModel::ValueA, RunConfigDiffModel::ValueB}) {
        const int name = head.horizontalAdvance(diff_->headerData(column, Qt::Horizontal).toString());
        view_->setColumnWidth(column, std::clamp(name + kHeadPadding, 110, std::max(110, width / 5)));
    }
    view_->setColumnWidth(RunConfigDiffModel::Effect, 160);
}

void ConfigDiffPane::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    setIconOnly(copy_, width() < kWordsWidth);
    layoutColumns();
}

QString ConfigDiffPane::title() const
{
    return title_->fullText();
}

} // namespace lockstep
