// Phase 4: the drills with who noticed when, the timeout the measured run recommends with its working, and what happened when
// ranks were lost and the run went on.
#pragma once

#include "ui/models/drill_story.h"
#include "ui/models/fact_table_model.h"
#include "ui/models/query_jobs.h"
#include "ui/pages/gate_page.h"

class QGridLayout;

namespace lockstep {

class CurveFeed;
class CurveView;
class DrillTimeline;

class DrillsPage : public GatePage
{
    Q_OBJECT

public:
    explicit DrillsPage(const PageContext& context, QWidget* parent = nullptr);
    void open(const QString& argument) override;
    bool busy() const override;

protected:
    void gateShown(const GateInfo* gate) override;
    void checkShown(const GateCheck& check) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeTimeoutPane();
    QWidget* makeDegradePane();
    void load();
    void showPicture(const DrillsPicturePtr& picture);
    void showDrill(int row);
    void showTimeout();
    void drawDegrade();

    QueryJobs jobs_;
    QString loaded_; // what the picture was made of
    DrillsPicturePtr picture_;
    Pane *drillsPane_ = nullptr, *timelinePane_ = nullptr;
    DataTable* drillsTable_ = nullptr;
    FactTableModel* drills_ = nullptr;
    DrillTimeline* timeline_ = nullptr;
    QLabel *timelineSentence_ = nullptr, *timeout_ = nullptr, *timeoutFor_ = nullptr,
           *timeoutSentence_ = nullptr, *degradeText_ = nullptr;
    QWidget* side_ = nullptr;
    QGridLayout* terms_ = nullptr;
    QPushButton* play_ = nullptr;
    CurveFeed* feed_ = nullptr;
    CurveView* degradePlot_ = nullptr;
};

} // namespace lockstep
