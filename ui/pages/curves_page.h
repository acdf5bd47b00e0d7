// Curves: loss, its difference to the reference and the gradient norm of the chosen runs over one x axis, with the causal
// chain above and the evidence beside them. Live while a run records.
#pragma once

#include "ui/models/comparison_model.h"
#include "ui/models/query_jobs.h"
#include "ui/pages/curve_looks.h"
#include "ui/pages/plot_page.h"

namespace lockstep {

class CausalStrip;
class CurveFeed;
class CurvePlots;
class CurveToolbar;
class EvidencePanel;
class PlotGroup;
class RunChipBar;

class CurvesPage : public PlotPage
{
    Q_OBJECT

public:
    explicit CurvesPage(const PageContext& context, QWidget* parent = nullptr);

    // "run:ID" compares this run with its reference, "step:N" goes to a step.
    void open(const QString& argument) override;
    QJsonObject saveState() const override;
    void restoreState(const QJsonObject& state) override;
    bool escape() override;
    void jumpToDivergence() override;
    void nextScale() override;
    bool busy() const override;

protected:
    void themeChanged() override;

private:
    void connectAll();
    void makeExportMenu();
    void chooseDefaults();
    void choosePair(const QString& reference, const QString& run);
    void refresh(); // project or selection changed
    void draw();    // new rows
    void showComparison();
    void showMarks();
    void goToStep(qint64 step);
    void changeXAxis();
    enum class FileKind { Csv, Svg, Png };
    void exportAs(FileKind kind);
    std::vector<const RunEntry*> chosenRuns() const;

    CurveFeed* feed_;
    RunChipBar* chips_;
    CausalStrip* strip_;
    CurveToolbar* toolbar_;
    CurvePlots* plots_;
    PlotGroup* group_; // of plots_
    EvidencePanel* evidence_;
    QPushButton *undoZoom_, *export_;
    ProjectSnapshotPtr snapshot_;
    RunComparisonPtr comparison_;
    QueryJobs exports_;
};

} // namespace lockstep
