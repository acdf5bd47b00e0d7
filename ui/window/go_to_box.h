// Ctrl+K: one line that goes to a page, a phase, a run or a step.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QLineEdit>

class QCompleter;
class QStandardItemModel;

namespace lockstep {

class GoToBox : public QLineEdit
{
    Q_OBJECT

public:
    explicit GoToBox(QWidget* parent = nullptr);
    void setSnapshot(const ProjectSnapshot& snapshot);

Q_SIGNALS:
    void chosen(const QString& pageId, const QString& argument);

private:
    void go(const QString& text);

    QStandardItemModel* targets_;
    QString known_; // ids in the list, to rebuild only when they change
};

} // namespace lockstep
