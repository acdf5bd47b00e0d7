// A phase that trains (2 and 3): the runs of the gate as they train, DDP over its reference with the measured tolerance, the
// deciding facts, and the checks with first bad step, rank and parameter. While one of its runs trains, its ranks stand here.
#pragma once

#include "ui/models/comparison_model.h"
#include "ui/models/gate_runs.h"
#include "ui/pages/gate_page.h"

namespace lockstep {

class FactRow;
class LiveRanksPane;
class PairPlots;
class RunStrip;

class TrainedGatePage : public GatePage
{
    Q_OBJECT

public:
    TrainedGatePage(const PageContext& context, const QString& phase, QWidget* parent = nullptr);
    void open(const QString& argument) override;
    void jumpToDivergence() override; // the first bad step, in Curves
    bool busy() const override;

protected:
    void gateShown(const GateInfo* gate) override;
    void checkShown(const GateCheck& check) override;

private:
    void showRuns();
    void showBand();
    void offerStep();
    void showFacts(const GateInfo* gate);
    void showFactsOrRanks();
    void openCurves(qint64 step); // negative: no step

    bool gradients_; // phase 2; else phase 3
    GateRuns runs_;
    QString reference_, run_; // the pair that is drawn
    bool factsKnown_ = false;
    bool statistics_ = false;                   // BatchNorm: the twin is the reference
    qint64 firstBadStep_ = -1, checkStep_ = -1; // of the gate, of the current check

    Pane* stripPane_ = nullptr;
    RunStrip* strip_ = nullptr;
    LiveRanksPane* ranks_ = nullptr;
    PairPlots* plots_ = nullptr;
    FactRow* facts_ = nullptr;
    QPushButton* toStep_ = nullptr;
};

} // namespace lockstep
