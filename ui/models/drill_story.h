// What a recorded drill and the newest DDP run tell: who knew what when, how long a rank should wait, where a run went on with
// other ranks. Read in a pool thread, immutable afterwards.
#pragma once

#include "ui/models/project_snapshot.h"
#include "ui/models/roles.h"

#include <QString>

#include <memory>
#include <vector>

namespace lockstep {

struct DrillMoment {
    enum class Kind { Breaks, Notices, Exits, Names };
    Kind kind = Kind::Notices;
    double seconds = 0; // since it broke
    QString text;
};

struct DrillLane {
    QString title; // "rank 2", "host"
    int rank = -1;
    bool broken = false;
    std::vector<DrillMoment> moments; // in order of time
};

struct DrillStory {
    QString error; // nothing can be told
    QString word;  // of the kind, for the command line
    QString run, title, sentence;
    State state = State::Waiting;
    std::int64_t step = -1;
    double limit = 0, goneAfter = 0;
    int survivors = 0, survivorsNaming = 0;
    std::int64_t lostSteps = 0;
    std::vector<DrillLane> lanes; // the broken rank first, the host last
};

struct TimeoutStory {
    QString run;                  // empty: no run to measure
    QString error;                // it recorded no step times
    QString recommended, current; // "20 s"
    double seconds = 0;
    std::vector<std::pair<QString, QString>> terms;
    QString sentence;
    int world = 1;
};

// Where a run went on with other ranks.
struct DegradeStory {
    QString run; // empty: none has
    struct Change {
        std::int64_t step = 0;
        int world = 0;
        QString reason;
    };
    std::vector<Change> changes; // the first is the start
    QString batchTerm;           // "4 x 8 x 2 = 64"
};

struct DrillsPicture {
    std::vector<DrillStory> drills; // newest of each kind, in the order of the gate
    TimeoutStory timeout;
    DegradeStory degrade;
};
using DrillsPicturePtr = std::shared_ptr<const DrillsPicture>;

// Never fails: what is wrong stands in the result.
DrillsPicturePtr readDrills(const ProjectSnapshotPtr& snapshot);

} // namespace lockstep
