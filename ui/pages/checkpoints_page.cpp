#include "ui/pages/checkpoints_page.h"

#include "ui/models/checkpoint_list_model.h"
#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/models/roles.h"
#include "ui/pages/checkpoint_diff_panel.h"
#include "ui/pages/checkpoint_keys_view.h"
#include "ui/pages/checkpoint_list_pane.h"
#include "ui/pages/checkpoint_parts_view.h"
#include "ui/pages/checkpoint_repair_panel.h"
#include "ui/pages/checkpoint_tensor_panel.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/icons.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QJsonArray>
#include <QMenu>
#include <QProgressBar>
#include <QSaveFile>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>

namespace lockstep {

CheckpointsPage::CheckpointsPage(const PageContext& context, QWidget* parent)
    : Page(context, tr("Checkpoints"), parent),
      chooser_(new CheckpointListPane(this)),
      list_(&chooser_->list()),
      parts_(new CheckpointPartsView(this)),
      keys_(parts_->keys()),
      banner_(new Banner(this)),
      progress_(new QProgressBar(this)),
      tensor_(new CheckpointTensorPanel(this)),
      diff_(new CheckpointDiffPanel(this)),
      repair_(new CheckpointRepairPanel(context.undo, this)),
      inspector_(new CheckpointInspector(this))
{
    auto* openButton = button(tr("Open file"), QStringLiteral("plus"), this);
    makeCompareMenu();
    headActions()->addWidget(compareButton_);
    exportButton_ = button(tr("Export CSV"), QStringLiteral("export"), this);
    exportButton_->setObjectName(QStringLiteral("exportCsv"));
    headActions()->addWidget(exportButton_);
    headActions()->addWidget(openButton);
    connect(exportButton_, &QPushButton::clicked, this, &CheckpointsPage::exportCsv);
    connect(inspector_, &CheckpointInspector::verdictReady, this,
            [this](const CheckpointVerdictPtr& verdict) {
                verdict_ = verdict;
                showVerdict();
            });
    connect(inspector_, &CheckpointInspector::numbersReady, this,
            [this](const NumbersBatchPtr& batch) { keys_->addNumbers(*batch); });
    connect(inspector_, &CheckpointInspector::numbersFinished, this, &CheckpointsPage::countNumbers);
    connect(openButton, &QPushButton::clicked, this, &CheckpointsPage::openFile);
    auto* columns = new QSplitter(Qt::Horizontal, this);
    columns->addWidget(chooser_);
    connect(chooser_, &CheckpointListPane::chosen, this, &CheckpointsPage::read);
    auto* rows = new QSplitter(Qt::Vertical, this);
    rows->addWidget(makeTree());
    rows->addWidget(tensor_);
    rows->addWidget(diff_);
    rows->setStretchFactor(0, 3);
    rows->setStretchFactor(1, 1);
    rows->setStretchFactor(2, 1);
    rows->setChildrenCollapsible(false);
    columns->addWidget(rows);
    columns->addWidget(repair_);
    connectRepair();
    columns->setStretchFactor(0, 0);
    columns->setStretchFactor(1, 1);
    columns->setChildrenCollapsible(false);
    columns->setStretchFactor(2, 0);
    columns->setSizes({204, 10000, 300});
    body()->addWidget(columns, 1);

    connect(&context.project, &ProjectModel::changed, this,
            [this](const ProjectSnapshotPtr& snapshot) { chooser_->setSnapshot(*snapshot); });
    connect(&context.project, &ProjectModel::closed, this, [this] { chooser_->setSnapshot({}); });
    chooser_->setSnapshot(*context.project.snapshot());
    showTree(nullptr);
}

QWidget* CheckpointsPage::makeTree()
{
    auto* box = new QWidget(this);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    progress_->setRange(0, 0);
    progress_->setTextVisible(false);
    progress_->hide();
    column->addWidget(progress_);
    auto* bannerBox = new QVBoxLayout;
    bannerBox->setContentsMargins(16, 12, 16, 0);
    bannerBox->addWidget(banner_);
    column->addLayout(bannerBox);

    stack_ = new QStackedWidget(box);
    auto* empty = new QWidget(stack_);
    auto* words = new QVBoxLayout(empty);
    words->setContentsMargins(20, 0, 20, 60);
    emptyTitle_ = label("finding", {}, empty);
    emptyText_ = label("secondary", {}, empty);
    auto* picture = new QLabel(empty);
    picture->setPixmap(icon(QStringLiteral("checkpoints"), Tone::Hint).pixmap(36, 36));
    words->addStretch(2);
    words->addWidget(picture, 0, Qt::AlignHCenter);
    words->addSpacing(6);
    words->addWidget(emptyTitle_, 0, Qt::AlignHCenter);
    words->addWidget(emptyText_, 0, Qt::AlignHCenter);
    words->addStretch(3);
    stack_->addWidget(empty);

    stack_->addWidget(parts_);
    column->addWidget(stack_, 1);
    connect(keys_, &CheckpointKeysView::rowChosen, this,
            [this](int row) { tensor_->showTensor(shown_, row); });
    connect(tensor_, &CheckpointTensorPanel::closeRequested, tensor_, &CheckpointTensorPanel::close);
    return box;
}

void CheckpointsPage::openFile()
{
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open a checkpoint"), {},
        tr("Checkpoints (*.pt *.pth *.bin *.ckpt *.safetensors *.tar);;All files (*)"));
    if (!path.isEmpty())
        open(QStringLiteral("file:") + path);
}

void CheckpointsPage::open(const QString& argument)
{
    if (argument.startsWith(QLatin1String("file:"))) {
        const QString path = QFileInfo(argument.mid(5)).absoluteFilePath();
        chooser_->select(list_->addOpened(path));
    } else if (!chooser_->hasCurrent() && !chooser_->isEmpty()) {
        chooser_->select(0);
    } else if (chooser_->isEmpty()) {
        showTree(nullptr);
    }
    chooser_->focusList();
}

void CheckpointsPage::read(const QString& path)
{
    if (path == path_ && shown_)
        return;
    path_ = path;
    chooser_->setKept(path);
    jobs_.start([path](const JobToken&) { return readCheckpointTree(path); },
                [this](const CheckpointTreePtr& tree) { showTree(tree); });
    QTimer::singleShot(500, this, [this] { progress_->setVisible(jobs_.busy()); });
}

void CheckpointsPage::showTree(const CheckpointTreePtr& tree)
{
    progress_->hide();
    banner_->clear();
    verdict_.reset();
    numbersFine_.clear();
    nanHeadline_.clear();
    inspector_->inspect(tree);
    const bool listed = tree && !tree->rows.empty();
    stack_->setCurrentIndex(listed ? 1 : 0);
    exportButton_->setEnabled(listed);
    compareButton_->setEnabled(listed);
    diff_->close();
    tensor_->close();
    repair_->setVerdict(nullptr);
    shown_ = listed ? tree : nullptr;
    parts_->setTree(shown_);
    const QString name = tree ? QFileInfo(tree->path).fileName() : QString();
    if (!tree) {
        emptyTitle_->setText(tr("No checkpoint yet"));
        emptyText_->setText(tr("A run saves one when it ends. Or open a .pt, .pth or .safetensors file."));
        setSubtitle({});
        return;
    }
    if (!tree->error.isEmpty())
        banner_->showMessage(State::Failed, tr("%1 cannot be opened").arg(name), tree->error);
    else if (!tree->problems.empty())
        banner_->showMessage(State::Failed, tree->problems.front(),
                             tree->problems.size() > 1
                                 ? tr("%n further problem(s).", nullptr, int(tree->problems.size()) - 1)
                                 : QString());
    else if (!tree->refusal.isEmpty())
        banner_->showMessage(State::CannotCompare, tr("torch.load with weights_only=True refuses this file"),
                             tree->refusal);
    emptyTitle_->setText(tr("Nothing to list"));
    emptyText_->setText(name);
    setSubtitle(tr("%1, %2, %3").arg(name, formatBytes(tree->bytes), tree->container));
    if (!listed)
        return;
    Q_EMIT statusTextChanged(tr("%1 tensors, %2 elements read in %3 ms")
                                 .arg(formatCount(tree->tensors), formatCount(tree->elements))
                                 .arg(tree->readMs, 0, 'f', tree->readMs < 10 ? 1 : 0));
}

// The verdict sentence, replaced by a finding of the statistics where the file is fine otherwise.
void CheckpointsPage::showVerdict()
{
    const CheckpointVerdict& verdict = *verdict_;
    if (verdict.state != State::Failed && !nanHeadline_.isEmpty())
        banner_->showMessage(State::Failed, nanHeadline_, nanText_);
    else
        banner_->showMessage(verdict.state, verdict.headline, verdict.explanation,
                             verdict.salvageable.isEmpty() ? QString() : tr("Save what is whole"));
    QStringList fine = verdict.fine;
    if (!numbersFine_.isEmpty())
        fine << numbersFine_;
    banner_->setNotes(fine);
    parts_->setVerdict(verdict);
    repair_->setVerdict(verdict_);
}

void CheckpointsPage::countNumbers(std::uint64_t bytes, double seconds)
{
    std::uint64_t nan = 0, inf = 0, tensors = 0;
    QString first;
    for (std::size_t at = 0; at < keys_->numbers().size(); ++at) {
        const TensorNumbers& numbers = keys_->numbers()[at];
        nan += numbers.nan;
        inf += numbers.inf;
        tensors += numbers.nan > 0;
        if (numbers.nan > 0 && first.isEmpty())
            first = keyName(*shown_, shown_->rows[at]);
    }
    if (nan == 0) {
        numbersFine_ = tr("0 NaN, %1 Inf").arg(formatCount(std::int64_t(inf)));
    } else {
        nanHeadline_ =
            tr("%1 NaN in %n tensor(s), limit 0", nullptr, int(tensors)).arg(formatCount(std::int64_t(nan)));
        nanText_ =
            tr("First in %1. Use an older checkpoint, or find the step in which it appeared.").arg(first);
    }
    if (verdict_)
        showVerdict();
    const CheckpointTree& tree = *shown_;
    Q_EMIT statusTextChanged(tr("%1 keys read in %2 ms, statistics of %3 in %4 s")
                                 .arg(formatCount(tree.tensors))
                                 .arg(tree.readMs, 0, 'f', tree.readMs < 10 ? 1 : 0)
                                 .arg(formatBytes(std::int64_t(bytes)))
                                 .arg(seconds, 0, 'f', 1));
}

void CheckpointsPage::exportCsv()
{
    if (!shown_)
        return;
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export the table"), shown_->path + QStringLiteral(".csv"), tr("Tables (*.csv)"));
    if (path.isEmpty())
        return;
    QSaveFile file(path);
    const QByteArray csv = checkpointCsv(*shown_, keys_->numbers());
    if (!file.open(QIODevice::WriteOnly) || file.write(csv) != csv.size() || !file.commit())
        banner_->showMessage(State::Failed, tr("%1 was not written").arg(QFileInfo(path).fileName()),
                             tr("%1. Choose another folder.").arg(file.errorString()));
    else
        Q_EMIT statusTextChanged(tr("%1 written").arg(QFileInfo(path).fileName()));
}

// The other checkpoints of the list, and any file. The menu is made when it is opened: the list grows while runs go on.
void CheckpointsPage::makeCompareMenu()
{
    compareButton_ = button(tr("Compare with"), QStringLiteral("compare"), this);
    compareButton_->setObjectName(QStringLiteral("compareWith"));
    auto* menu = new QMenu(compareButton_);
    compareButton_->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        for (int row = 0; row < list_->rowCount(); ++row) {
            const QModelIndex index = list_->index(row);
            const QString path = index.data(IdRole).toString();
            if (path != path_)
                menu->addAction(index.data().toString(), this, [this, path] { diff_->compare(path_, path); })
                    ->setToolTip(path);
        }
        if (!menu->isEmpty())
            menu->addSeparator();
        menu->addAction(tr("Other file..."), this, [this] {
            const QString path = QFileDialog::getOpenFileName(this, tr("Compare with a checkpoint"));
            if (!path.isEmpty())
                diff_->compare(path_, path);
        });
    });
}

void CheckpointsPage::connectRepair()
{
    connect(repair_, &CheckpointRepairPanel::written, this, [this](const QString& path) {
        list_->addOpened(path);
        Q_EMIT statusTextChanged(tr("%1 written. Ctrl+Z removes it again.").arg(QFileInfo(path).fileName()));
    });
    connect(repair_, &CheckpointRepairPanel::removed, this, [this](const QString& path) {
        const bool shown = path == path_;
        if (shown) {
            path_.clear();
            chooser_->setKept({});
        }
        list_->removeOpened(path);
        if (shown && chooser_->isEmpty())
            showTree(nullptr);
    });
    connect(banner_, &Banner::buttonClicked, this, [this] { repair_->salvage(path_); });
    connect(repair_, &CheckpointRepairPanel::failed, this, [this](const QString& sentence) {
        banner_->showMessage(State::Failed, tr("The copy was not written"), sentence);
    });
}

void CheckpointsPage::togglePanel()
{
    repair_->setVisible(!repair_->isVisible());
}

bool CheckpointsPage::busy() const
{
    return jobs_.busy() || inspector_->busy() || diff_->busy() || repair_->busy() || tensor_->busy();
}

bool CheckpointsPage::escape()
{
    if (diff_->isVisible()) {
        diff_->close();
        return true;
    }
    if (tensor_->isVisible()) {
        tensor_->close();
        return true;
    }
    return keys_->clearFilter();
}

QJsonObject CheckpointsPage::saveState() const
{
    return {{QStringLiteral("current"), path_},
            {QStringLiteral("auxiliary"), chooser_->auxiliaryShown()},
            {QStringLiteral("opened"), QJsonArray::fromStringList(list_->opened())}};
}

void CheckpointsPage::restoreState(const QJsonObject& state)
{
    for (const QJsonValue& path : state.value(QStringLiteral("opened")).toArray())
        if (QFileInfo::exists(path.toString()))
            list_->addOpened(path.toString());
    chooser_->setAuxiliaryShown(state.value(QStringLiteral("auxiliary")).toBool());
    const int row = list_->rowOf(state.value(QStringLiteral("current")).toString());
    if (row >= 0)
        chooser_->select(row);
}

} // namespace lockstep
