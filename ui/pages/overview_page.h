// Overview: what now, the gates with their deciding numbers, the last runs, what changes from one rank to many.
#pragma once

#include "ui/models/next_action.h"
#include "ui/pages/page.h"

class QLabel;

namespace lockstep {

class Banner;
class Chip;
class DataTable;
class LiveRanksPane;
class NextActionBox;
class OverviewNotes;
class PairPlots;
class Pane;
class RunConfigDiffModel;
class RunsFilterModel;

class OverviewPage : public Page
{
    Q_OBJECT

public:
    explicit OverviewPage(const PageContext& context, QWidget* parent = nullptr);
    void open(const QString& argument) override;
    bool busy() const override;

private:
    void refresh();
    void updateChanges();
    void updateParts();
    void follow(const NextAction::Button& button);

    RunsFilterModel* lastRuns_;
    RunConfigDiffModel* diff_;
    Banner* banner_;
    NextActionBox* next_;
    Pane *changes_, *runsPane_, *parts_;
    Chip* partsChip_;
    QLabel *partsHeadline_, *partsSentence_;
    QWidget* changeRows_;
    QLabel* changesEmpty_;
    QLabel* changesPair_ = nullptr;
    QPushButton *allChanges_, *allRuns_, *script_;
    DataTable *gates_, *runs_;
    OverviewNotes* notes_;
    PairPlots* plots_;
    LiveRanksPane* ranks_;
    QString pairA_, pairB_;
};

} // namespace lockstep
