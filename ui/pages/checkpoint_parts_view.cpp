#include "ui/pages/checkpoint_parts_view.h"

#include "ui/pages/checkpoint_keys_view.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"

#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

namespace lockstep {

CheckpointPartsView::CheckpointPartsView(QWidget* parent)
    : QWidget(parent),
      tabs_(new QTabBar(this)),
      stack_(new QStackedWidget(this)),
      keys_(new CheckpointKeysView(this))
{
    tabs_->setObjectName(QStringLiteral("checkpointTabs"));
    tabs_->setDrawBase(false);
    tabs_->setExpanding(false);
    tabs_->addTab(tr("Keys"));
    stack_->addWidget(keys_);
    resume_ =
        addTable(tr("Resume checklist"), 3, tr("Nothing of a resumable run was recognised in this file."));
    records_ = addTable(tr("Records and CRC"), 0, tr("This file keeps no records of its own."));
    globals_ = addTable(tr("Globals"), 0, tr("The file mentions no classes or functions: it is plain data."));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(tabs_);
    column->addWidget(horizontalLine(this));
    column->addWidget(stack_, 1);
    connect(tabs_, &QTabBar::currentChanged, stack_, &QStackedWidget::setCurrentIndex);
}

FactTableModel* CheckpointPartsView::addTable(const QString& title, int stretch, const QString& none)
{
    auto* model = new FactTableModel(this);
    auto* table = new DataTable(this);
    table->setModel(model);
    table->setColumnPlan(stretch, {});
    table->setAccessibleName(title);
    table->setEmptyText(none);
    tabs_->addTab(title);
    stack_->addWidget(table);
    return model;
}

void CheckpointPartsView::setTree(const CheckpointTreePtr& tree)
{
    keys_->setTree(tree);
    for (FactTableModel* table : {resume_, records_, globals_})
        table->setTable({});
}

void CheckpointPartsView::setVerdict(const CheckpointVerdict& verdict)
{
    keys_->setMarkedPrefix(verdict.prefix);
    resume_->setTable(verdict.resume);
    records_->setTable(verdict.records);
    globals_->setTable(verdict.globals);
}

} // namespace lockstep
