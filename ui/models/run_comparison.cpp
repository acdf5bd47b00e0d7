#include "core/align/compare.h"
#include "ui/models/comparison_model.h"
#include "ui/models/format.h"
#include "ui/models/quantity_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::Comparison)
};

// "Equal at 4 decimals", the rule people use by hand; half a unit of the fourth decimal.
constexpr double kFourDecimals = 5e-5;

CausalLink linkOf(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info ? info->link : CausalLink::None;
}

DivergenceRow row(const FirstDifference& d, bool exact)
{
    DivergenceRow out;
    const QuantityInfo* info = quantityInfo(d.quantity);
    out.title = quantityTitle(d.quantity);
    if (info && info->indexed)
        out.title += QStringLiteral(" [%1]").arg(d.index);
    out.step = d.step;
    out.rank = d.rank;
    out.a = d.missingA ? Tr::tr("missing") : formatBits(d.quantity, d.a);
    out.b = d.missingB ? Tr::tr("missing") : formatBits(d.quantity, d.b);
    const bool number = info && info->type != ValueType::U64 && !d.missingA && !d.missingB;
    if (number && info->type == ValueType::F64)
        out.delta = formatDelta(std::fabs(doubleOf(d.a) - doubleOf(d.b)));
    else if (number)
        out.delta = QString::number(std::llabs(std::int64_t(d.a) - std::int64_t(d.b)));
    else
        out.delta = QStringLiteral("-");
    out.limit = exact || (info && info->type != ValueType::F64) ? Tr::tr("0 bits") : formatDelta(d.limit);
    return out;
}

// One link of the strip. `origin` is the link where the runs part first, at step `step`.
LinkRow link(CausalLink which, const lockstep::Comparison& c, const FirstDifference* origin, bool exact)
{
    LinkRow out;
    out.link = which;
    out.title = linkTitle(which);
    if (which == CausalLink::Config) {
        out.state = State::Holds;
        out.detail =
            c.config.empty() ? Tr::tr("equal") : Tr::tr("%n key(s) differ", nullptr, int(c.config.size()));
        return out;
    }
    std::int64_t points = 0;
    for (const QuantityResult& result : c.quantities) {
        if (linkOf(result.quantity) != which)
            continue;
        points += result.points;
        if (result.first && (out.firstStep < 0 || result.first->step < out.firstStep))
            out.firstStep = result.first->step;
    }
    if (points == 0 && out.firstStep < 0) {
        out.state = State::Off;
        out.detail = Tr::tr("not compared");
        return out;
    }
    if (out.firstStep < 0) {
        out.state = State::Holds;
        out.detail = exact ? Tr::tr("%1 equal").arg(formatCount(points))
                           : Tr::tr("%1 inside").arg(formatCount(points));
    } else if (origin && linkOf(origin->quantity) == which) {
        out.state = State::Diverged;
        out.firstStep = origin->step;
        out.detail = Tr::tr("first broken link, step %1").arg(origin->step);
    } else if (origin && which < linkOf(origin->quantity)) {
        // Earlier in the chain but parts later: whole at the step where the break is.
        out.state = State::Holds;
        out.detail =
            exact ? Tr::tr("0 bits at %1").arg(origin->step) : Tr::tr("inside at %1").arg(origin->step);
    } else {
        out.state = State::Follows;
        out.detail = Tr::tr("from step %1").arg(out.firstStep);
    }
    return out;
}

QString rule(const lockstep::Comparison& c)
{
    switch (c.tolerance.mode) {
    case CompareMode::Exact:
        return Tr::tr("limit 0 bits");
    case CompareMode::Absolute:
        return c.tolerance.limit == kFourDecimals ? Tr::tr("limit 4 decimals, no envelope measured")
                                                  : Tr::tr("limit %1").arg(formatDelta(c.tolerance.limit));
    case CompareMode::Envelope:
        return Tr::tr("limit: the measured envelope");
    default:
        return qs(toleranceName(c.tolerance));
    }
}

RunComparison cannotCompare(RunComparison out, const QString& reason)
{
    out.verdict = State::CannotCompare;
    out.headline = Tr::tr("The runs cannot be compared");
    out.sentence = reason;
    return out;
}

} // namespace

RunComparison compareEntries(const RunEntry& a, const RunEntry& b)
{
    RunComparison out;
    out.runA = a.id();
    out.runB = b.id();
    out.live = a.running() || b.running();
    Result<RunReader> readerA = RunReader::open(a.info.folder);
    if (!readerA)
        return cannotCompare(out, qs(readerA.error().sentence()));
    Result<RunReader> readerB = RunReader::open(b.info.folder);
    if (!readerB)
        return cannotCompare(out, qs(readerB.error().sentence()));

    CompareOptions options;
    const auto ranks = [](const RunConfig& c) { return c.mode == "single" ? 1 : c.world; };
    if (ranks(a.config) != ranks(b.config))
        options.tolerance = {CompareMode::Absolute, kFourDecimals};
    Result<lockstep::Comparison> compared = compareRuns(*readerA, a.config, *readerB, b.config, options);
    if (!compared)
        return cannotCompare(out, qs(compared.error().sentence()));
    const lockstep::Comparison& c = *compared;
    if (c.verdict == Verdict::CannotCompare)
        return cannotCompare(out, qs(c.reason));

    const bool exact = c.tolerance.mode == CompareMode::Exact;
    const FirstDifference* origin = c.origin();
    for (int i = 0; i < int(CausalLink::None); ++i)
        out.links.push_back(link(CausalLink(i), c, origin, exact));
    for (const FirstDifference& difference : c.first())
        out.first.push_back(row(difference, exact));
    for (const QuantityResult& result : c.quantities)
        out.points += result.points;
    const QString extent = Tr::tr("%1 values in steps %2-%3, %4")
                               .arg(formatCount(out.points))
                               .arg(c.firstStep)
                               .arg(c.lastStep)
                               .arg(rule(c));
    if (origin) {
        out.verdict = State::Diverged;
        out.firstStep = origin->step;
        out.firstLink = linkTitle(linkOf(origin->quantity));
        out.headline =
            Tr::tr("First divergent step %1: %2").arg(origin->step).arg(quantityTitle(origin->quantity));
        const DivergenceRow first = row(*origin, exact);
        out.sentence =
            Tr::tr("%1: %2 in A, %3 in B. Compared: %4.")
                .arg(origin->rank >= 0 ? Tr::tr("Rank %1").arg(origin->rank) : Tr::tr("All ranks together"),
                     first.a, first.b, extent);
    } else {
        out.verdict = State::Holds;
        out.headline =
            exact ? Tr::tr("The runs are equal in every bit") : Tr::tr("The runs agree inside the limit");
        out.sentence = Tr::tr("%1.").arg(extent);
    }
    return out;
}

} // namespace lockstep
