// Phase 1: the coverage picture above the checks, and "what if" beside it. The fix of a failing check can be applied to the
// plan and judged again with one click.
#pragma once

#include "ui/models/data_coverage.h"
#include "ui/models/query_jobs.h"
#include "ui/pages/gate_page.h"

class QCheckBox;
class QLabel;
class QSpinBox;
class QStackedLayout;

namespace lockstep {

class CoverageView;
class DataEpochsModel;

class DataPage : public GatePage
{
    Q_OBJECT

public:
    explicit DataPage(const PageContext& context, QWidget* parent = nullptr);

    QJsonObject saveState() const override;
    void restoreState(const QJsonObject& state) override;
    bool busy() const override;

protected:
    void gateShown(const GateInfo* gate) override;
    void checkShown(const GateCheck& check) override;

private:
    void buildCoverage();
    void buildWhatIf();
    void buildFix();
    void load(const GateInfo& gate);
    void show(CoverageDataPtr data);
    DataPlan typedPlan() const;
    void showWhatIf();
    void setPlan(const DataPlan& plan);
    void offerFix();

    QueryJobs jobs_;
    std::string shownConfig_; // configJson of what is loaded or being loaded
    DataPlan plan_;           // as judged
    bool planKnown_ = false;
    GateCheck check_; // the current one

    Pane *coveragePane_ = nullptr, *whatIfPane_ = nullptr;
    CoverageView* view_ = nullptr;
    QWidget* picture_ = nullptr;
    DataTable* epochsTable_ = nullptr;
    DataEpochsModel* epochs_;
    QLabel *hover_ = nullptr, *coverageError_ = nullptr;
    QSpinBox *world_ = nullptr, *batch_ = nullptr, *seed_ = nullptr;
    QCheckBox *dropLast_ = nullptr, *shuffle_ = nullptr;
    QLabel* whatIf_ = nullptr;
    QPushButton *judgePlan_ = nullptr, *applyFix_ = nullptr;
};

} // namespace lockstep
