// "Ranks, live": one row per rank of a run while it trains, and the split of each rank's last step as a bar. Any page that
// shows a run can place it.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/widgets/building_blocks.h"

namespace lockstep {

class DataTable;
class LiveRanksModel;

class LiveRanksPane : public Pane
{
    Q_OBJECT

public:
    explicit LiveRanksPane(QWidget* parent = nullptr);
    // Call again with every new snapshot. Null: no run; the pane says nothing then.
    void setRun(const RunEntry* run);
    bool busy() const;

private:
    LiveRanksModel* model_;
    DataTable* table_;
};

} // namespace lockstep
