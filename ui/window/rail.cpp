#include "ui/window/rail.h"

#include "ui/models/findings_model.h"
#include "ui/models/format.h"
#include "ui/models/gates_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"
#include "ui/window/page_registry.h"
#include "ui/window/rail_delegate.h"

#include <QLabel>
#include <QListView>
#include <QMenu>
#include <QProgressBar>
#include <QSet>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kWidth = 216;
constexpr int kCollapsedWidth = 48;

QLabel* sectionTitle(const QString& text, QWidget* parent)
{
    QLabel* title = label("section", text, parent);
    title->setContentsMargins(14, 14, 0, 6);
    return title;
}

} // namespace

Rail::Rail(GatesModel& gates, QWidget* parent)
    : QWidget(parent),
      gates_(gates),
      pages_(new QStandardItemModel(this)),
      project_(new QPushButton(this)),
      name_(label("paneTitle", {}, project_)),
      folder_(label("hint", {}, project_)),
      phasesTitle_(sectionTitle(tr("Migration"), this)),
      pagesTitle_(sectionTitle(tr("Pages"), this)),
      runName_(new ElidedLabel("note", this)),
      runStep_(label("hint", {}, this)),
      runProgress_(new QProgressBar(this)),
      runBox_(new QWidget(this))
{
    setObjectName(QStringLiteral("rail"));
    setAttribute(Qt::WA_StyledBackground);
    setFixedWidth(kWidth);

    project_->setObjectName(QStringLiteral("projectButton"));
    project_->setAccessibleName(tr("Project"));
    auto* words = new QVBoxLayout(project_);
    words->setContentsMargins(14, 6, 8, 6);
    words->setSpacing(0);
    for (QLabel* one : {name_, folder_}) {
        one->setAttribute(Qt::WA_TransparentForMouseEvents);
        words->addWidget(one);
    }

    phaseList_ = makeList();
    phaseList_->setObjectName(QStringLiteral("phaseList"));
    phaseList_->setAccessibleName(tr("Migration"));
    phaseList_->setItemDelegate(new RailDelegate(true, phaseList_));
    phaseList_->setModel(&gates_);
    phaseList_->setFixedHeight(44 * gates_.rowCount());
    pageList_ = makeList();
    pageList_->setObjectName(QStringLiteral("pageList"));
    pageList_->setAccessibleName(tr("Pages"));
    pageList_->setItemDelegate(new RailDelegate(false, pageList_));
    for (const PageEntry& entry : pageEntries()) {
        if (entry.phase)
            continue;
        auto* item = new QStandardItem(pageTitle(entry));
        item->setData(QString::fromLatin1(entry.id), IdRole);
        item->setData(QString::fromLatin1(entry.icon), IconNameRole);
        item->setToolTip(tr("%1 (Alt+%2)").arg(pageTitle(entry)).arg(entry.altKey));
        pages_->appendRow(item);
    }
    pageList_->setModel(pages_);
    pageList_->setFixedHeight(28 * pages_->rowCount());

    auto* run = new QVBoxLayout(runBox_);
    run->setContentsMargins(14, 8, 14, 12);
    run->setSpacing(4);
    run->addWidget(runName_);
    run->addWidget(runStep_);
    run->addWidget(runProgress_);
    runProgress_->setTextVisible(false);
    runBox_->hide();

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(project_);
    column->addWidget(horizontalLine(this));
    column->addWidget(phasesTitle_);
    column->addWidget(phaseList_);
    column->addWidget(pagesTitle_);
    column->addWidget(pageList_);
    column->addStretch(1);
    column->addWidget(runBox_);

    // One current place over both lists.
    for (QListView* list : {phaseList_, pageList_})
        connect(list->selectionModel(), &QItemSelectionModel::currentChanged, this,
                [this](const QModelIndex& current) {
                    if (!setting_ && current.isValid())
                        Q_EMIT chosen(current.data(IdRole).toString());
                });
    // A click on the place that is already current in its list still counts.
    for (QListView* list : {phaseList_, pageList_})
        connect(list, &QListView::clicked, this, [this](const QModelIndex& index) {
            if (index.flags().testFlag(Qt::ItemIsEnabled))
                Q_EMIT chosen(index.data(IdRole).toString());
        });
}

QListView* Rail::makeList()
{
    auto* list = new QListView(this);
    list->setFrameShape(QFrame::NoFrame);
    list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    list->setUniformItemSizes(true);
    list->setMouseTracking(true);
    return list;
}

void Rail::setProject(const QString& name, const QString& folder)
{
    name_->setText(name.isEmpty()
                       ? tr("No project")
                       : QFontMetrics(name_->font()).elidedText(name, Qt::ElideMiddle, kWidth - 30));
    folder_->setText(QFontMetrics(folder_->font())
                         .elidedText(folder.isEmpty() ? tr("new window") : formatFolder(folder),
                                     Qt::ElideMiddle, kWidth - 30));
    project_->setToolTip(folder);
}

void Rail::setProjectMenu(QMenu* menu)
{
    connect(project_, &QPushButton::clicked, this,
            [this, menu] { menu->popup(project_->mapToGlobal(QPoint(0, project_->height()))); });
}

void Rail::setCount(const char* page, int count, bool red)
{
    for (int row = 0; row < pages_->rowCount(); ++row) {
        QStandardItem* item = pages_->item(row);
        if (item->data(IdRole).toString() != QLatin1String(page))
            continue;
        item->setData(count, CountRole);
        item->setData(red, CountRedRole);
    }
}

void Rail::setSnapshot(const ProjectSnapshot& snapshot, bool open)
{
    const auto own = std::count_if(snapshot.runs.begin(), snapshot.runs.end(),
                                   [](const RunEntry& run) { return !run.auxiliary(); });
    setCount("runs", int(own), false); // as the page lists them: without those of gates and drills
    // Red counts what the newest runs have; without any, how many there were once.
    const int current = currentFindings(snapshot);
    setCount("findings", current > 0 ? current : int(snapshot.findings.size()), current > 0);
    QSet<QString> auxiliary;
    for (const RunEntry& run : snapshot.runs)
        if (run.auxiliary())
            auxiliary.insert(run.id());
    const auto kept = std::count_if(
        snapshot.checkpoints.begin(), snapshot.checkpoints.end(),
        [&](const CheckpointSeen& seen) { return !auxiliary.contains(QString::fromStdString(seen.runId)); });
    setCount("checkpoints", int(kept), false);
    for (int row = 0; row < pages_->rowCount(); ++row) {
        const PageEntry* entry = pageEntry(pages_->item(row)->data(IdRole).toString());
        pages_->item(row)->setEnabled(open || entry->withoutProject);
    }
    const RunEntry* running = nullptr;
    for (const RunEntry& run : snapshot.runs)
        if (run.running())
            running = &run;
    runBox_->setVisible(running && !collapsed_);
    if (!running)
        return;
    const std::int64_t total = running->config.steps;
    const std::int64_t done = std::max<std::int64_t>(running->info.lastStep, 0);
    runName_->setFullText(running->name());
    runStep_->setText(total > 0 ? tr("step %1 of %2").arg(done).arg(total) : tr("step %1").arg(done));
    runProgress_->setRange(0, total > 0 ? int(total) : 0);
    runProgress_->setValue(int(done));
}

void Rail::setCurrent(const QString& pageId)
{
    setting_ = true;
    for (QListView* list : {phaseList_, pageList_}) {
        QModelIndex found;
        for (int row = 0; row < list->model()->rowCount(); ++row)
            if (list->model()->index(row, 0).data(IdRole).toString() == pageId)
                found = list->model()->index(row, 0);
        if (found.isValid())
            list->setCurrentIndex(found);
        else
            list->selectionModel()->clear();
    }
    setting_ = false;
}

void Rail::setCollapsed(bool collapsed)
{
    if (collapsed == collapsed_)
        return;
    collapsed_ = collapsed;
    setFixedWidth(collapsed ? kCollapsedWidth : kWidth);
    phasesTitle_->setVisible(!collapsed);
    pagesTitle_->setVisible(!collapsed);
    project_->setIcon(collapsed ? icon(QStringLiteral("folder"), Tone::Secondary) : QIcon());
    name_->setVisible(!collapsed);
    folder_->setVisible(!collapsed);
    if (collapsed)
        runBox_->hide();
}

} // namespace lockstep
