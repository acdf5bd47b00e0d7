// The left column: project, phases with the state of their gates, pages, and the run that is going on. Narrow windows get
// the shapes only, with the words in tooltips.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QWidget>

class QLabel;
class QListView;
class QMenu;
class QProgressBar;
class QPushButton;
class QStandardItemModel;

namespace lockstep {

class ElidedLabel;
class GatesModel;

class Rail : public QWidget
{
    Q_OBJECT

public:
    Rail(GatesModel& gates, QWidget* parent = nullptr);

    void setProject(const QString& name, const QString& folder);
    void setProjectMenu(QMenu* menu);
    void setSnapshot(const ProjectSnapshot& snapshot, bool open);
    void setCurrent(const QString& pageId); // no signal
    void setCollapsed(bool collapsed);

Q_SIGNALS:
    void chosen(const QString& pageId);

private:
    QListView* makeList();
    void setCount(const char* page, int count, bool red);

    GatesModel& gates_;
    QStandardItemModel* pages_;
    QListView *phaseList_, *pageList_;
    QPushButton* project_;
    QLabel *name_, *folder_, *phasesTitle_, *pagesTitle_;
    ElidedLabel* runName_;
    QLabel* runStep_;
    QProgressBar* runProgress_;
    QWidget* runBox_;
    bool collapsed_ = false;
    bool setting_ = false;
};

} // namespace lockstep
