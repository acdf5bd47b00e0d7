// Runs: the table of all runs, A and B marked by key, and what differs between their configurations. A run is started,
// stopped, repeated and deleted (with undo) from here.
#pragma once

#include "ui/pages/page.h"

class QLineEdit;
class QSplitter;

namespace lockstep {

class Banner;
class DataTable;
class DataTree;
class NewRunPanel;
class RunConfigDiffModel;
class RunsFilterModel;
struct RunConfig;

class RunsPage : public Page
{
    Q_OBJECT

public:
    explicit RunsPage(const PageContext& context, QWidget* parent = nullptr);

    // "new" or "new:MODE" opens the form, "run:ID" selects a run.
    void open(const QString& argument) override;
    QJsonObject saveState() const override;
    void restoreState(const QJsonObject& state) override;
    bool escape() override;
    void togglePanel() override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeTable();
    QWidget* makeDiff();
    void updateActions();
    void updateDiff();
    void mark(bool asB);
    void showForm(const RunConfig& config);
    void removeCurrent();
    QString currentRun() const;

    RunsFilterModel* filter_;
    RunConfigDiffModel* diff_;
    DataTable* table_;
    DataTree* diffView_;
    QSplitter *rows_, *columns_;
    NewRunPanel* form_;
    QLineEdit* filterEdit_;
    Banner* banner_;
    QLabel *diffTitle_, *diffSummary_;
    QPushButton *stop_, *rerun_, *remove_, *compare_, *copy_;
};

} // namespace lockstep
