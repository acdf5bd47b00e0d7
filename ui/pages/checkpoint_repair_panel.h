// The right side of the Checkpoints page: the repair as choices, what it would change with counts before and after, and the
// button that writes it into a new file. Ctrl+Z removes that file again.
#pragma once

#include "ui/models/checkpoint_repair.h"
#include "ui/models/checkpoint_verdict.h"
#include "ui/models/query_jobs.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QUndoStack;
class QVBoxLayout;

namespace lockstep {

class CodeBlock;

class CheckpointRepairPanel : public QWidget
{
    Q_OBJECT

public:
    explicit CheckpointRepairPanel(QUndoStack& undo, QWidget* parent = nullptr);

    // What the choices are about; null: nothing.
    void setVerdict(const CheckpointVerdictPtr& verdict);
    // Saves the whole tensors of a damaged file beside it; answered like a repaired copy.
    void salvage(const QString& path);
    bool busy() const { return jobs_.busy() || writer_->busy(); }

Q_SIGNALS:
    void written(const QString& path); // also when it was written again by Ctrl+Shift+Z
    void removed(const QString& path); // by Ctrl+Z
    void failed(const QString& sentence);

private:
    class CopyStep;
    RepairChoice choice() const;
    QString output() const; // absolute
    void makeCounts(QVBoxLayout& column);
    void clearPreview();
    void preview();
    void showPreview(const RepairPreviewPtr& preview);
    void suggestName();
    void write();

    QUndoStack& undo_;
    CheckpointVerdictPtr verdict_;
    RepairWriter* writer_;
    QCheckBox *strip_, *bfloat16_, *modelOnly_, *safetensors_;
    QLabel* state_;
    QLabel* sample_;
    QLabel* counts_[3][2];
    QLabel* hint_;
    QLineEdit* name_;
    QPushButton *write_, *copy_;
    CodeBlock* code_;
    QString suggested_;
    QString writtenPath_;      // the copy made of the file that is shown; empty: none yet
    QStringList pendingWords_; // of the copy being written; empty: it is written again by redo
    QueryJobs jobs_;
};

} // namespace lockstep
