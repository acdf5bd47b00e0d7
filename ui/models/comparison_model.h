// Compares runs off the GUI thread and remembers the results: every run of the project against its reference (for the
// tables), and the pair that a page asks for (for the causal strip and the evidence). Results of finished runs are kept;
// a pair with a running run is compared again about once a second while somebody looks at it. GUI thread.
#pragma once

#include "core/base/quantity.h"
#include "ui/models/project_snapshot.h"
#include "ui/models/query_jobs.h"
#include "ui/models/run_verdict.h"

#include <QHash>
#include <QTimer>

#include <memory>
#include <utility>
#include <vector>

namespace lockstep {

struct EnvelopeSource;

// One link of the causal chain, for the strip.
struct LinkRow {
    CausalLink link = CausalLink::None;
    State state = State::None; // Holds, Diverged (first broken link), Follows, Off (nothing recorded)
    QString title;
    QString detail; // "14,048 equal", "from step 41"
    std::int64_t firstStep = -1;
};

// First step at which one quantity parts.
struct DivergenceRow {
    QString title;
    std::int64_t step = -1;
    int rank = -1;
    QString a, b;  // exact values
    QString delta; // |a - b|, or "-" for fingerprints
    QString limit; // what would still count as equal
};

struct RunComparison {
    QString runA, runB;
    State verdict = State::None; // Holds, Diverged, CannotCompare
    QString headline;            // "First divergent step 41: gradient before reduction"
    QString brief;               // for a table cell: "pre-reduction gradient", "0 bits differ"
    QString sentence;            // what was compared, by which rule, how many points
    std::int64_t firstStep = -1;
    QString firstLink;                // translated; empty when nothing parts
    std::vector<LinkRow> links;       // in causal order
    std::vector<DivergenceRow> first; // in causal order, only those that part
    std::int64_t points = 0;
    bool live = false;     // one of the runs still recorded when this was made
    bool byDesign = false; // CannotCompare, because the model is another function on several ranks
    // Judged by the measured envelope: the limit of the loss at these steps, and from how many repeats. Else empty.
    std::vector<std::int64_t> bandSteps;
    std::vector<double> bandLimits;
    int repeats = 0;
};

// The comparison of core/align in the words and numbers of the window, judged by the rule of comparison_rule.h. `a` and `b`
// are entries of one project.
RunComparison compareEntries(const RunEntry& a, const RunEntry& b, const EnvelopeSource& envelope);

using RunComparisonPtr = std::shared_ptr<const RunComparison>;

class ComparisonModel : public QObject
{
    Q_OBJECT

public:
    explicit ComparisonModel(QObject* parent = nullptr);

    void setSnapshot(const ProjectSnapshotPtr& snapshot);
    // The pair a page looks at; empty ids end it. Answered with compared(), at once if the result is known.
    void watch(const QString& runA, const QString& runB);
    // A further pair to be compared once, after the watched one; verdictsChanged() tells when it is there.
    void want(const QString& runA, const QString& runB);
    RunComparisonPtr result(const QString& runA, const QString& runB) const; // null: not there yet
    const RunVerdicts& verdicts() const { return verdicts_; }
    bool busy() const { return jobs_.busy(); }

Q_SIGNALS:
    void compared(const lockstep::RunComparisonPtr& comparison);
    void verdictsChanged(const lockstep::RunVerdicts& verdicts);

private:
    using Pair = std::pair<QString, QString>;

    void next();
    void take(const RunComparisonPtr& comparison);
    EnvelopeSource envelopeSource() const;
    bool wanted(const Pair& pair) const; // unknown, or made while a run still recorded and now outdated

    ProjectSnapshotPtr snapshot_;
    std::int64_t envelopeMs_ = 0; // when the envelope of the project was measured
    Pair watched_, extra_;
    QHash<Pair, RunComparisonPtr> results_;
    QHash<Pair, std::int64_t> madeMs_;
    RunVerdicts verdicts_;
    QTimer again_;
    QueryJobs jobs_;
};

} // namespace lockstep
