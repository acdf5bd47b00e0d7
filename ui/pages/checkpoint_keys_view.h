// The keys of a checkpoint as a tree with filter and type-ahead, and the numbers of tensors as they come in.
#pragma once

#include "ui/models/checkpoint_numbers.h"
#include "ui/models/checkpoint_tree.h"

#include <QWidget>

class QLineEdit;
class QSortFilterProxyModel;

namespace lockstep {

class CheckpointTreeModel;
class DataTree;

class CheckpointKeysView : public QWidget
{
    Q_OBJECT

public:
    explicit CheckpointKeysView(QWidget* parent = nullptr);

    void setTree(const CheckpointTreePtr& tree); // null: none
    const CheckpointTree* tree() const;
    void addNumbers(const NumbersBatch& batch);
    const std::vector<TensorNumbers>& numbers() const;
    void setMarkedPrefix(const QString& prefix);
    bool clearFilter(); // false: there was none

Q_SIGNALS:
    void rowChosen(int row); // position in CheckpointTree::rows; -1: none

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void layoutColumns();
    void expandShallow();
    void makeActions();
    void copyKeys();

    CheckpointTreeModel* model_;
    QSortFilterProxyModel* filter_;
    QLineEdit* edit_;
    DataTree* view_;
};

} // namespace lockstep
