#include "ui/pages/checkpoint_list_pane.h"

#include "ui/models/checkpoint_list_model.h"
#include "ui/models/roles.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/two_line_delegate.h"

#include <QCheckBox>
#include <QListView>
#include <QVBoxLayout>

namespace lockstep {

CheckpointListPane::CheckpointListPane(QWidget* parent)
    : QWidget(parent),
      list_(new CheckpointListModel(this)),
      view_(new QListView(this)),
      auxiliary_(new QCheckBox(this))
{
    setMinimumWidth(180);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    QLabel* title = label("section", tr("In this project, newest first"), this);
    title->setContentsMargins(12, 10, 12, 6);
    column->addWidget(title);
    view_->setObjectName(QStringLiteral("checkpointList"));
    view_->setAccessibleName(tr("Checkpoints"));
    view_->setModel(list_);
    view_->setItemDelegate(new TwoLineDelegate(view_));
    view_->setFrameShape(QFrame::NoFrame);
    view_->setMouseTracking(true);
    view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    column->addWidget(view_, 1);
    auxiliary_->setObjectName(QStringLiteral("showAuxiliary"));
    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 6, 12, 0);
    row->addWidget(auxiliary_);
    column->addLayout(row);
    QLabel* hint =
        wrappedLabel("hint", tr("Drop files or folders here. Nothing in a file is executed."), this);
    hint->setContentsMargins(12, 8, 12, 12);
    column->addWidget(hint);

    connect(auxiliary_, &QCheckBox::toggled, list_, &CheckpointListModel::setAuxiliaryShown);
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& current) {
                if (current.isValid())
                    Q_EMIT chosen(current.data(IdRole).toString());
            });
    // A rebuilt list has lost its current row.
    connect(list_, &QAbstractItemModel::modelReset, this, [this] {
        const int row = list_->rowOf(kept_);
        if (row >= 0)
            select(row);
        else if (isVisible() && list_->rowCount() > 0)
            select(0);
    });
    setSnapshot({});
}

void CheckpointListPane::setSnapshot(const ProjectSnapshot& snapshot)
{
    list_->setSnapshot(snapshot);
    auxiliary_->setText(tr("of gates and drills (%1)").arg(list_->auxiliary()));
    auxiliary_->setAccessibleName(tr("Show checkpoints of gates and drills (%1)").arg(list_->auxiliary()));
    auxiliary_->setToolTip(auxiliary_->accessibleName());
    auxiliary_->setVisible(list_->auxiliary() > 0);
}

bool CheckpointListPane::isEmpty() const
{
    return list_->rowCount() == 0;
}

bool CheckpointListPane::hasCurrent() const
{
    return view_->currentIndex().isValid();
}

void CheckpointListPane::select(int row)
{
    view_->setCurrentIndex(list_->index(row));
}

bool CheckpointListPane::auxiliaryShown() const
{
    return auxiliary_->isChecked();
}

void CheckpointListPane::setAuxiliaryShown(bool shown)
{
    auxiliary_->setChecked(shown);
}

void CheckpointListPane::focusList()
{
    view_->setFocus();
}

} // namespace lockstep
