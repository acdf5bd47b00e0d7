// Roles shared by all table and tree models. Models speak of states and tones; colours, shapes and fonts are the widgets'.
#pragma once

#include <QMetaType>
#include <Qt>

namespace lockstep {

// What a row or a gate is in. Each state has one shape and one word; colour alone never carries it.
enum class State {
    None,
    Diverged,      // octagon with cross: runs part, or a check fails
    Failed,        // octagon with cross: a run ended with an error
    Overridden,    // triangle
    Passed,        // disc with tick: gates only
    Holds,         // bare tick: a check that holds, a finished run
    Running,       // three-quarter disc
    Waiting,       // ring
    Closed,        // padlock
    CannotCompare, // dashed ring
    Follows,       // arrow: consequence of an earlier break
    Off,           // dash: not part of this run
};

enum class Tone { Normal, Secondary, Hint, Red, Amber, Green, Accent };

enum ItemRole {
    StateRole = Qt::UserRole + 1, // int(State)
    ToneRole,                     // int(Tone)
    EmphasisRole,                 // bool: weight 600
    MonoRole,                     // bool: fixed-width digits (hashes, ids)
    IdRole,                       // QString: run id, phase id, key
    SortRole,                     // what a proxy sorts by
    GroupRole,                    // bool: a group row
    DetailRole,                   // QString: the second line of a two-line row
    TintRole,                     // bool: red tint behind the row
};

} // namespace lockstep
