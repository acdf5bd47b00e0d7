// Runs: the table of all runs, A and B marked by key, and what differs between their configurations. A run is started,
// stopped, repeated and deleted (with undo) from here. Runs that gates, drills and proofs made are hidden unless asked for.
#pragma once

#include "ui/pages/page.h"

class QCheckBox;
class QLineEdit;
class QSplitter;

namespace lockstep {

class Banner;
class ConfigDiffPane;
class DataTable;
class NewRunPanel;
class RunsFilterModel;
class ScriptPanel;
struct RunConfig;

class RunsPage : public Page
{
    Q_OBJECT

public:
    explicit RunsPage(const PageContext& context, QWidget* parent = nullptr);

    // "new" or "new:MODE" opens the form, "script" the one for a user's script, "run:ID" selects a run.
    void open(const QString& argument) override;
    QJsonObject saveState() const override;
    void restoreState(const QJsonObject& state) override;
    bool escape() override;
    bool busy() const override;
    void togglePanel() override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeTable();
    void updateActions();
    void updateDiff();
    void mark(bool asB);
    void showForm(const RunConfig& config, const std::string& onLoss = "stop");
    void showScript();
    void showPanel(QWidget* panel, int width);
    void showAuxiliary(bool shown);
    void removeCurrent();
    QString currentRun() const;

    RunsFilterModel* filter_;
    DataTable* table_;
    QSplitter *rows_, *columns_;
    NewRunPanel* form_;
    ScriptPanel* script_;
    ConfigDiffPane* diff_;
    QLineEdit* filterEdit_;
    Banner* banner_;
    QCheckBox* auxiliary_;
    QPushButton *stop_, *rerun_, *remove_, *compare_;
};

} // namespace lockstep
