// Checkpoints: what the engine saved and what was opened by hand, as a tree of keys with dtype and shape. Nothing in a
// file is executed. Works without a project.
#pragma once

#include "ui/models/checkpoint_tree.h"
#include "ui/models/query_jobs.h"
#include "ui/pages/page.h"

class QLineEdit;
class QListView;
class QProgressBar;
class QSortFilterProxyModel;
class QSplitter;
class QStackedWidget;

namespace lockstep {

class Banner;
class CheckpointListModel;
class CheckpointTreeModel;
class DataTree;

class CheckpointsPage : public Page
{
    Q_OBJECT

public:
    explicit CheckpointsPage(const PageContext& context, QWidget* parent = nullptr);

    // "file:PATH" opens a file.
    void open(const QString& argument) override;
    QJsonObject saveState() const override;
    void restoreState(const QJsonObject& state) override;
    bool escape() override;
    bool busy() const override { return jobs_.busy(); }

private:
    QWidget* makeList();
    QWidget* makeTree();
    void read(const QString& path);
    void showTree(const CheckpointTreePtr& tree);
    void openFile();
    void expandShallow();

    CheckpointListModel* list_;
    CheckpointTreeModel* tree_;
    QSortFilterProxyModel* filter_;
    QListView* listView_;
    DataTree* treeView_;
    QLineEdit* filterEdit_;
    Banner* banner_;
    QProgressBar* progress_;
    QStackedWidget* stack_;
    QLabel *emptyTitle_, *emptyText_;
    QString path_;
    QueryJobs jobs_;
};

} // namespace lockstep
