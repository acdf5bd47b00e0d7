// A repaired copy of a checkpoint: what would change, seen before anything is written, and the command that writes it.
// The original is never touched.
#pragma once

#include "ui/models/checkpoint_tree.h"

#include <QObject>
#include <QStringList>

#include <memory>
#include <utility>
#include <vector>

class QProcess;

namespace lockstep {

struct RepairChoice {
    QStringList strip; // prefixes taken off, in this order
    bool bfloat16 = false;
    bool modelOnly = false;
    bool safetensors = false;
    bool operator==(const RepairChoice&) const = default;
};

struct RepairPreview {
    QString error;                                    // nothing can be written: one sentence
    std::vector<std::pair<QString, QString>> renamed; // the first few: old and new name
    std::int64_t renamedCount = 0;
    std::int64_t tensors = 0;   // written
    std::int64_t keys = 0;      // of the model
    std::int64_t fitBefore = 0; // names of the model without any wrapper segment
    std::int64_t fitAfter = 0;
    QStringList notes;
    QString needsTorch; // oldest version that opens the copy; empty: not a torch file
};
using RepairPreviewPtr = std::shared_ptr<const RepairPreview>;

// Any thread. Reads no tensor bytes beyond what conversion to plain data needs.
RepairPreviewPtr previewRepair(const CheckpointTreePtr& tree, const RepairChoice& choice);

// The words behind "lockstep-cli" that write the copy.
QStringList repairWords(const QString& path, const QString& output, const RepairChoice& choice);

// The words behind "lockstep-cli" that save what is whole of a damaged file.
QStringList salvageWords(const QString& path, const QString& output);

// Runs lockstep-cli for the copy in a process of its own: $LOCKSTEP_CLI, beside this program, or in PATH. GUI thread.
class RepairWriter : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;
    ~RepairWriter() override;

    // Returns at once; answered by one of the signals. The command refuses to overwrite.
    void write(const QStringList& words, const QString& output);
    bool busy() const { return process_ != nullptr; }

Q_SIGNALS:
    void written(const QString& output);
    void failed(const QString& sentence);

private:
    void finish(const QString& output, const QString& error);

    QProcess* process_ = nullptr; // no parent: closing the window does not end it
};

} // namespace lockstep
