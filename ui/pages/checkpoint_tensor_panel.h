// Below the keys: the chosen tensor as histogram, heat map and table of its first values. Read off the GUI thread, newest
// choice first.
#pragma once

#include "ui/models/query_jobs.h"
#include "ui/models/tensor_view.h"

#include <QWidget>

class QLabel;
class QStackedWidget;
class QTimer;

namespace lockstep {

class DataTable;
class ElidedLabel;
class TensorHeat;
class TensorHistogram;

class CheckpointTensorPanel : public QWidget
{
    Q_OBJECT

public:
    explicit CheckpointTensorPanel(QWidget* parent = nullptr);

    // `row`: position in CheckpointTree::rows; anything but a tensor closes the panel. A person who walks through the keys
    // does not read them all: the tensor is read a moment later.
    void showTensor(const CheckpointTreePtr& tree, int row);
    void close();
    bool busy() const;

Q_SIGNALS:
    void closeRequested();

private:
    void read();
    void showView(const TensorViewPtr& view);

    CheckpointTreePtr tree_;
    int row_ = -1;
    int choice_ = 0; // picture or values
    QTimer* wait_;
    ElidedLabel* title_;
    QLabel *note_, *problem_;
    TensorHistogram* histogram_;
    TensorHeat* heat_;
    DataTable* table_;
    TensorSliceModel* slice_;
    QStackedWidget* stack_;
    QueryJobs jobs_;
};

} // namespace lockstep
