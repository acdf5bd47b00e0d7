#include "ui/pages/preflight_page.h"

#include "ui/models/preflight_keys_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"

namespace lockstep {

namespace {

constexpr int kRowsAtMost = 9;

} // namespace

PreflightPage::PreflightPage(const PageContext& context, QWidget* parent)
    : GatePage(context, QStringLiteral("preflight"), parent),
      keys_(new PreflightKeysModel(this)),
      pane_(new Pane(tr("Configuration, differing keys"), this)),
      table_(new DataTable(pane_)),
      summary_(label("note", {}, pane_)),
      error_(wrappedLabel("error", {}, pane_))
{
    pane_->head()->addWidget(summary_);
    pane_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    error_->setContentsMargins(12, 8, 12, 8);
    error_->hide();
    table_->setObjectName(QStringLiteral("preflightKeys"));
    table_->setAccessibleName(tr("Keys in which the configurations differ"));
    table_->setModel(keys_);
    table_->setColumnPlan(PreflightKeysModel::Why, {PreflightKeysModel::Effect});
    table_->setLongTexts({PreflightKeysModel::Single, PreflightKeysModel::Ddp}, 60);
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // it would lie over the last row
    table_->setFixedRows(kRowsAtMost);
    table_->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    pane_->addWidget(error_);
    pane_->addWidget(table_);
    pane_->hide();
    column()->insertWidget(2, pane_);
    connect(table_, &DataTable::currentIdChanged, this, &PreflightPage::selectCheck);
    refresh();
}

void PreflightPage::gateShown(const GateInfo* gate)
{
    const bool judged = gate != nullptr;
    pane_->setVisible(judged);
    const std::int64_t judgedMs = judged ? gate->judgedUnixMs : 0;
    if (judged && judgedMs == shownMs_ && keys_->rowCount() > 0)
        return; // selection and scroll position stay
    shownMs_ = judgedMs;
    keys_->setGate(gate);
    summary_->setText(keys_->summary());
    error_->setText(keys_->error());
    error_->setVisible(!keys_->error().isEmpty());
    table_->setVisible(keys_->error().isEmpty());
}

} // namespace lockstep
