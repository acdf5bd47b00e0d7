// Checkpoints: what the engine saved and what was opened by hand, the verdict first, then a tree of keys
// with dtype, shape and statistics. Nothing in a file is executed. Works without a project.
#pragma once

#include "ui/models/checkpoint_inspector.h"
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
class CheckpointDiffPanel;
class CheckpointListModel;
class CheckpointRepairPanel;
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
    void togglePanel() override;
    bool busy() const override;

private:
    QWidget* makeList();
    QWidget* makeTree();
    void read(const QString& path);
    void showTree(const CheckpointTreePtr& tree);
    void openFile();
    void expandShallow();
    void makeTreeActions();
    void showVerdict();
    void countNumbers(std::uint64_t bytes, double seconds);
    void copyKeys();
    void exportCsv();
    void makeCompareMenu();
    void connectRepair();

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
    QPushButton *compareButton_, *exportButton_;
    CheckpointDiffPanel* diff_;
    CheckpointRepairPanel* repair_;
    QString path_;
    CheckpointVerdictPtr verdict_; // null: still being judged
    QString numbersFine_;          // "0 NaN, 0 Inf" once all numbers are read
    QString nanHeadline_, nanText_;
    CheckpointInspector* inspector_;
    QueryJobs jobs_;
};

} // namespace lockstep
