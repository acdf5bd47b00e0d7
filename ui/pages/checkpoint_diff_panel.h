// The lower part of the Checkpoints page: two checkpoints compared, sorted by difference, with the mapping of names shown.
#pragma once

#include "ui/models/checkpoint_diff_model.h"
#include "ui/models/query_jobs.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QProgressBar;

namespace lockstep {

class DataTable;
class ElidedLabel;

class CheckpointDiffPanel : public QWidget
{
    Q_OBJECT

public:
    explicit CheckpointDiffPanel(QWidget* parent = nullptr);

    // Reads both in a pool thread; an answer about an older pair is dropped.
    void compare(const QString& pathA, const QString& pathB);
    void close();
    bool busy() const { return jobs_.busy(); }

private:
    void showComparison(const CheckpointComparisonPtr& comparison);

    CheckpointDiffModel* model_;
    DataTable* table_;
    ElidedLabel* names_;
    QLabel* summary_;
    QProgressBar* progress_;
    QueryJobs jobs_;
};

} // namespace lockstep
