#include "ui/pages/data_page.h"

#include "ui/models/data_epochs_model.h"
#include "ui/models/data_fixes.h"
#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/coverage_view.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/theme.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSpinBox>

namespace lockstep {

namespace {

QSpinBox* number(int least, int most, const QString& name, QWidget* parent)
{
    auto* box = new QSpinBox(parent);
    box->setRange(least, most);
    box->setAccessibleName(name);
    box->setKeyboardTracking(true);
    return box;
}

} // namespace

DataPage::DataPage(const PageContext& context, QWidget* parent)
    : GatePage(context, QStringLiteral("data"), parent), epochs_(new DataEpochsModel(this))
{
    buildCoverage();
    buildWhatIf();
    buildFix();
    refresh();
}

void DataPage::buildCoverage()
{
    coveragePane_ = new Pane(tr("Coverage, sample by rank"), this);
    hover_ = label("note", {}, coveragePane_);
    hover_->setObjectName(QStringLiteral("coverageHover"));
    coveragePane_->head()->addWidget(hover_);
    coveragePane_->head()->addWidget(
        label("hint",
              tr("strong: used early, faint: used late; triangle: padding duplicate; "
                 "grey line: every sample seen"),
              coveragePane_));
    coveragePane_->head()->addWidget(segmentedButtons(
        {tr("picture"), tr("table")}, 0,
        [this](int chosen) {
            view_->setVisible(chosen == 0);
            epochsTable_->setVisible(chosen == 1);
        },
        coveragePane_));
    coverageError_ = wrappedLabel("error", {}, coveragePane_);
    coverageError_->setContentsMargins(12, 8, 12, 8);
    coverageError_->hide();
    view_ = new CoverageView(coveragePane_);
    view_->setObjectName(QStringLiteral("coverage"));
    epochsTable_ = new DataTable(coveragePane_);
    epochsTable_->setAccessibleName(tr("Epochs"));
    epochsTable_->setModel(epochs_);
    epochsTable_->setColumnPlan(DataEpochsModel::Order, {DataEpochsModel::Steps});
    epochsTable_->setMinimumHeight(160);
    epochsTable_->hide();
    auto* inset = new QVBoxLayout;
    inset->setContentsMargins(12, 8, 8, 8);
    inset->addWidget(coverageError_);
    inset->addWidget(view_);
    inset->addWidget(epochsTable_);
    coveragePane_->body()->addLayout(inset);
    coveragePane_->hide();
    column()->insertWidget(2, coveragePane_);
    connect(view_, &CoverageView::hovered, this, [this](const QString& text) {
        hover_->setText(text);
        Q_EMIT statusTextChanged(text);
    });
}

void DataPage::buildWhatIf()
{
    whatIfPane_ = new Pane(tr("What if"), this);
    QHBoxLayout* row = whatIfPane_->head();
    const auto field = [&](const QString& text, QWidget* widget) {
        row->addWidget(label("secondary", text, whatIfPane_));
        row->addWidget(widget);
    };
    world_ = number(1, 1024, tr("ranks"), whatIfPane_);
    world_->setObjectName(QStringLiteral("whatIfWorld"));
    batch_ = number(1, 1'000'000, tr("batch per rank"), whatIfPane_);
    seed_ = number(0, 2'147'483'647, tr("sampler seed"), whatIfPane_);
    dropLast_ = new QCheckBox(tr("drop_last"), whatIfPane_);
    shuffle_ = new QCheckBox(tr("shuffle"), whatIfPane_);
    field(tr("ranks"), world_);
    field(tr("batch per rank"), batch_);
    field(tr("seed"), seed_);
    row->addWidget(dropLast_);
    row->addWidget(shuffle_);
    whatIf_ = label("body", {}, whatIfPane_);
    whatIf_->setObjectName(QStringLiteral("whatIfAnswer"));
    whatIf_->setContentsMargins(12, 5, 12, 6);
    whatIfPane_->addWidget(whatIf_);
    batch_->setObjectName(QStringLiteral("planBatch"));
    judgePlan_ = button(tr("Judge this plan"), {}, whatIfPane_);
    judgePlan_->setObjectName(QStringLiteral("judgePlan"));
    row->addWidget(judgePlan_);
    whatIfPane_->hide();
    column()->insertWidget(3, whatIfPane_);

    for (QSpinBox* box : {world_, batch_, seed_})
        connect(box, &QSpinBox::valueChanged, this, &DataPage::showWhatIf);
    for (QCheckBox* box : {dropLast_, shuffle_})
        connect(box, &QCheckBox::toggled, this, &DataPage::showWhatIf);
    connect(judgePlan_, &QPushButton::clicked, this, [this] {
        const DataPlan plan = typedPlan();
        QStringList words{QStringLiteral("--world"),        QString::number(plan.world),
                          QStringLiteral("--batch"),        QString::number(plan.batch),
                          QStringLiteral("--sampler-seed"), QString::number(plan.samplerSeed),
                          QStringLiteral("--accumulate"),   QString::number(plan.accumulate),
                          QStringLiteral("--samples"),      QString::number(plan.datasetSize),
                          QStringLiteral("--keep")};
        if (plan.dropLast)
            words << QStringLiteral("--drop-last");
        if (!plan.shuffle)
            words << QStringLiteral("--no-shuffle");
        context().commands.judgeGateWith(QStringLiteral("data"), words);
    });
}

void DataPage::buildFix()
{
    applyFix_ = button(tr("Apply fix and judge again"), {}, this);
    applyFix_->setObjectName(QStringLiteral("applyFix"));
    applyFix_->hide();
    // Sentence, place, evidence, fix, button: in the order in which they are read.
    detailColumn()->insertWidget(detailColumn()->count() - 1, applyFix_);
    connect(applyFix_, &QPushButton::clicked, this, [this] {
        context().commands.judgeGateWith(QStringLiteral("data"), {QStringLiteral("--fix"), qs(check_.cause)});
    });
}

void DataPage::gateShown(const GateInfo* gate)
{
    if (!view_)
        return;
    coveragePane_->setVisible(gate != nullptr);
    whatIfPane_->setVisible(planKnown_ && gate != nullptr);
    if (!gate) {
        shownConfig_.clear();
        return;
    }
    // A run that was judged again may have other records under the same plan.
    const std::string shown = gate->configJson + std::to_string(gate->judgedUnixMs);
    if (shown == shownConfig_)
        return;
    shownConfig_ = shown;
    load(*gate);
}

void DataPage::load(const GateInfo& gate)
{
    const Result<DataPlan> plan = dataPlanFromJson(gate.configJson);
    planKnown_ = plan.ok();
    whatIfPane_->setVisible(planKnown_);
    if (plan)
        setPlan(*plan);
    offerFix();
    jobs_.start([folder = context().project.folder().toStdString(),
                 config = gate.configJson](const JobToken&) { return loadCoverage(folder, config); },
                [this](CoverageDataPtr data) { show(std::move(data)); });
}

void DataPage::show(CoverageDataPtr data)
{
    coverageError_->setText(data->error);
    coverageError_->setVisible(!data->error.isEmpty());
    epochs_->setEpochs(data->epochs, data->datasetSize);
    view_->setData(std::move(data));
}

void DataPage::setPlan(const DataPlan& plan)
{
    plan_ = plan;
    const QSignalBlocker blockers[] = {QSignalBlocker(world_), QSignalBlocker(batch_), QSignalBlocker(seed_),
                                       QSignalBlocker(dropLast_), QSignalBlocker(shuffle_)};
    world_->setValue(plan.world);
    batch_->setValue(int(plan.batch));
    seed_->setValue(int(std::min<std::uint64_t>(plan.samplerSeed, 2'147'483'647)));
    dropLast_->setChecked(plan.dropLast);
    shuffle_->setChecked(plan.shuffle);
    showWhatIf();
}

DataPlan DataPage::typedPlan() const
{
    DataPlan plan = plan_;
    plan.world = world_->value();
    plan.batch = batch_->value();
    plan.samplerSeed = std::uint64_t(seed_->value());
    plan.dropLast = dropLast_->isChecked();
    plan.shuffle = shuffle_->isChecked();
    return plan;
}

void DataPage::showWhatIf()
{
    const WhatIf answer = whatIf(typedPlan());
    whatIf_->setText(tr("%1 steps per epoch, global batch %2, %3 padding, %4 omitted, last step %5 per rank")
                         .arg(formatCount(answer.steps), formatCount(answer.globalBatch),
                              formatCount(answer.padding), formatCount(answer.omitted),
                              formatCount(answer.lastBatch)));
}

void DataPage::checkShown(const GateCheck& check)
{
    if (!applyFix_)
        return;
    check_ = check;
    offerFix();
}

void DataPage::offerFix()
{
    const bool writable = !context().project.snapshot()->readOnly;
    applyFix_->setVisible(check_.verdict == "fail" && writable && planKnown_ &&
                          hasDataFix(plan_, check_.cause));
}

bool DataPage::busy() const
{
    return jobs_.busy() || view_->busy();
}

QJsonObject DataPage::saveState() const
{
    const CoverageRange range = view_->range();
    return {{QStringLiteral("first"), range.first}, {QStringLiteral("last"), range.last}};
}

void DataPage::restoreState(const QJsonObject& state)
{
    const double first = state.value(QLatin1String("first")).toDouble();
    const double last = state.value(QLatin1String("last")).toDouble();
    if (last > first)
        view_->setRange(first, last);
}

} // namespace lockstep
