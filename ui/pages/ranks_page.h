// Ranks: every rank of a run by step, as distance to the median of the ranks; which rank leaves the others and when, and
// whether what must be equal on all ranks is. Live while the run records.
#pragma once

#include "core/base/quantity.h"
#include "ui/pages/plot_page.h"
#include "ui/pages/ranks_findings.h"

#include <optional>

class QComboBox;

namespace lockstep {

class Banner;
class HeatmapView;
class PlotGroup;
class RanksCellModel;
class RanksEqualityModel;
class RanksFeed;
class RanksPanel;
class RanksPlots;
struct RunEntry;

class RanksPage : public PlotPage
{
    Q_OBJECT

public:
    explicit RanksPage(const PageContext& context, QWidget* parent = nullptr);

    // "run:ID" shows this run, "step:N" goes to a step, "rank:R" with a step to a cell, "quantity:NAME" chooses what is
    // drawn. Several stand in lines of their own.
    void open(const QString& argument) override;
    QJsonObject saveState() const override;
    void restoreState(const QJsonObject& state) override;
    bool escape() override;
    // The first broken equality, else the first cell beyond the limit.
    void jumpToDivergence() override;
    void nextScale() override;
    bool busy() const override;

protected:
    void themeChanged() override;

private:
    void fillRuns();
    void refresh(); // project, run or quantity changed
    void draw();    // new rows
    void showVerdict();
    void showCell();
    void pin(std::optional<RankStep> cell);
    void goToStep(qint64 step);
    const RunEntry* run() const; // the chosen one; nullptr: none has several ranks
    Quantity quantity() const;
    void chooseQuantity(const QString& name); // unknown: stays
    int rankOfRow(int row) const;             // -1: none
    int rowOfRank(int rank) const;

    RanksFeed* feed_;
    RanksCellModel* cells_;
    RanksEqualityModel* equality_;
    QComboBox *runs_, *quantity_;
    Banner* broken_; // equality
    RanksPlots* plots_;
    HeatmapView* heatmap_; // of plots_, as the next
    PlotGroup* group_;
    RanksPanel* panel_;
    QString runId_, shownRun_;
    std::optional<RankStep> pinned_;
    bool rankByUser_ = false; // else the odd rank is chosen
    bool dismissed_ = false;  // the banner of this run's broken equality was closed
};

} // namespace lockstep
