// The runs drawn in Curves as chips in the head of the page: line style, name, a cross to take it off, and a menu to add
// one. The first chip is the reference.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QStringList>
#include <QWidget>

class QHBoxLayout;
class QMenu;
class QPushButton;

namespace lockstep {

class RunChipBar : public QWidget
{
    Q_OBJECT

public:
    explicit RunChipBar(QWidget* parent = nullptr);
    void setRuns(const ProjectSnapshotPtr& snapshot, const QStringList& chosen);

Q_SIGNALS:
    void added(const QString& runId);
    void removed(const QString& runId);

private:
    void fillMenu();

    QHBoxLayout* chips_;
    QPushButton* add_;
    QMenu* menu_;
    ProjectSnapshotPtr snapshot_;
    QStringList chosen_;
    QString shown_;
};

} // namespace lockstep
