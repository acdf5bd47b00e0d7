// Curves: loss, its difference to the reference and the gradient norm of the chosen runs over one x axis, with the causal
// chain above and the evidence beside them. Live while a run records.
#pragma once

#include "ui/models/comparison_model.h"
#include "ui/pages/curve_looks.h"
#include "ui/pages/page.h"

class QCheckBox;
class QSplitter;

namespace lockstep {

class Banner;
class CausalStrip;
class CurveFeed;
class CurveView;
class EvidencePanel;
class NavigatorView;
class PlotGroup;
class RunChipBar;

class CurvesPage : public Page
{
    Q_OBJECT

public:
    explicit CurvesPage(const PageContext& context, QWidget* parent = nullptr);

    // "run:ID" compares this run with its reference, "step:N" goes to a step.
    void open(const QString& argument) override;
    QJsonObject saveState() const override;
    void restoreState(const QJsonObject& state) override;
    bool escape() override;
    void togglePanel() override;
    void jumpToDivergence() override;
    void nextScale() override;
    bool busy() const override;

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makePlots();
    QWidget* makeToolbar();
    void chooseDefaults();
    void refresh(); // project or selection changed
    void draw();    // new rows
    void showComparison();
    void goToStep(qint64 step);
    void saveImage();
    std::vector<const RunEntry*> chosenRuns() const;

    CurveFeed* feed_;
    PlotGroup* group_;
    RunChipBar* chips_;
    CausalStrip* strip_;
    Banner* banner_;
    CurveView *loss_, *delta_, *grad_;
    NavigatorView* navigator_;
    EvidencePanel* evidence_;
    QSplitter* columns_;
    QCheckBox *smoothing_, *follow_, *log_;
    QPushButton *undoZoom_, *export_;
    ProjectSnapshotPtr snapshot_;
    RunComparisonPtr comparison_;
    RankDisplay display_ = RankDisplay::Spread;
    bool fitted_ = false;
    bool panelByUser_ = false;
};

} // namespace lockstep
