// Checkpoints: what the engine saved and what was opened by hand, the verdict first, then a tree of keys
// with dtype, shape and statistics. Nothing in a file is executed. Works without a project.
#pragma once

#include "ui/models/checkpoint_inspector.h"
#include "ui/models/query_jobs.h"
#include "ui/pages/page.h"

class QProgressBar;
class QSplitter;
class QStackedWidget;

namespace lockstep {

class Banner;
class CheckpointDiffPanel;
class CheckpointListModel;
class CheckpointListPane;
class CheckpointRepairPanel;
class CheckpointKeysView;
class CheckpointPartsView;
class CheckpointTensorPanel;

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
    QWidget* makeTree();
    void read(const QString& path);
    void showTree(const CheckpointTreePtr& tree);
    void openFile();
    void showVerdict();
    void countNumbers(std::uint64_t bytes, double seconds);
    void exportCsv();
    void makeCompareMenu();
    void connectRepair();

    CheckpointListPane* chooser_;
    CheckpointListModel* list_; // of chooser_
    CheckpointPartsView* parts_;
    CheckpointKeysView* keys_; // of parts_
    Banner* banner_;
    QProgressBar* progress_;
    QStackedWidget* stack_;
    QLabel *emptyTitle_, *emptyText_;
    QPushButton *compareButton_, *exportButton_;
    CheckpointTensorPanel* tensor_;
    CheckpointDiffPanel* diff_;
    CheckpointRepairPanel* repair_;
    QString path_;
    CheckpointTreePtr shown_;      // null: nothing is listed
    CheckpointVerdictPtr verdict_; // null: still being judged
    QString numbersFine_;          // "0 NaN, 0 Inf" once all numbers are read
    QString nanHeadline_, nanText_;
    CheckpointInspector* inspector_;
    QueryJobs jobs_;
};

} // namespace lockstep
