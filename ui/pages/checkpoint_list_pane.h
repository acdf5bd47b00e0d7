// The checkpoints to choose from, at the left of the Checkpoints page: those of the project's runs, those of gates and drills
// when asked for, and those opened by hand.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QWidget>

class QCheckBox;
class QListView;

namespace lockstep {

class CheckpointListModel;

class CheckpointListPane : public QWidget
{
    Q_OBJECT

public:
    explicit CheckpointListPane(QWidget* parent = nullptr);

    CheckpointListModel& list() { return *list_; }
    void setSnapshot(const ProjectSnapshot& snapshot);
    bool isEmpty() const;
    bool hasCurrent() const;
    void select(int row);
    // Kept through a rebuilt list; where it is not in it any more, the first one is chosen.
    void setKept(const QString& path) { kept_ = path; }
    bool auxiliaryShown() const;
    void setAuxiliaryShown(bool shown);
    void focusList();

Q_SIGNALS:
    void chosen(const QString& path);

private:
    CheckpointListModel* list_;
    QListView* view_;
    QCheckBox* auxiliary_;
    QString kept_;
};

} // namespace lockstep
