#include "core/align/compare.h"
#include "ui/models/comparison_model.h"
#include "ui/models/format.h"
#include "ui/models/quantity_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <optional>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::Comparison)
};

// The published rule for the first batch: equal at 4 decimals; half a unit of the fourth.
constexpr double kFourDecimals = 5e-5;

CausalLink linkOf(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info ? info->link : CausalLink::None;
}

bool isData(Quantity quantity)
{
    const CausalLink link = linkOf(quantity);
    return link == CausalLink::Config || link == CausalLink::SampleIds || link == CausalLink::Content;
}

DivergenceRow rowOf(const FirstDifference& d, bool exact)
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
    out.limit = exact || (info && info->type != ValueType::F64) ? Tr::tr("0 bits")
                : d.limit == kFourDecimals                      ? Tr::tr("4 decimals")
                                                                : formatDelta(d.limit);
    return out;
}

// What is judged: all of an exact comparison. Of runs with different worlds without an envelope only what rounding
// cannot touch (which samples, in which order) and the first batch; later steps drift apart rightly.
struct Judged {
    const Comparison& c;
    bool exact = true;

    bool counts(const FirstDifference& d) const { return exact || isData(d.quantity) || d.step <= 1; }
    const FirstDifference* origin() const
    {
        const FirstDifference* first = nullptr;
        for (const QuantityResult& result : c.quantities) // in causal order, so the earliest link wins a tie
            if (result.first && counts(*result.first) && (!first || result.first->step < first->step))
                first = &*result.first;
        return first;
    }
};

LinkRow linkRow(CausalLink which, const Judged& judged, const FirstDifference* origin)
{
    LinkRow out;
    out.link = which;
    out.title = linkTitle(which);
    if (which == CausalLink::Config) {
        const int keys = int(judged.c.config.size());
        out.state = State::Holds;
        out.detail = keys == 0 ? Tr::tr("equal") : Tr::tr("%n key(s) differ", nullptr, keys);
        return out;
    }
    std::int64_t points = 0;
    std::int64_t drift = -1; // differs, but is not judged
    for (const QuantityResult& result : judged.c.quantities) {
        if (linkOf(result.quantity) != which)
            continue;
        points += result.points;
        if (!result.first)
            continue;
        std::int64_t& step = judged.counts(*result.first) ? out.firstStep : drift;
        step = step < 0 ? result.first->step : std::min(step, result.first->step);
    }
    if (points == 0 && out.firstStep < 0 && drift < 0) {
        out.state = State::Off;
        out.detail = Tr::tr("not compared");
    } else if (origin && linkOf(origin->quantity) == which) {
        out.state = State::Diverged;
        out.firstStep = origin->step;
        out.detail = Tr::tr("first broken link, step %1").arg(origin->step);
    } else if (origin && out.firstStep >= 0 && which > linkOf(origin->quantity)) {
        out.state = State::Follows;
        out.detail = Tr::tr("from step %1").arg(out.firstStep);
    } else {
        out.state = State::Holds;
        if (out.firstStep >= 0) // earlier in the chain than the break, but parts later
            out.detail = Tr::tr("0 bits at step %1").arg(origin ? origin->step : out.firstStep);
        else if (!judged.exact && which >= CausalLink::Rng)
            out.detail = Tr::tr("agrees at step 1");
        else
            out.detail = Tr::tr("%1 equal").arg(formatCount(points));
        out.firstStep = -1;
    }
    return out;
}

// "Values drift by rounding": the first step at which the loss leaves the fourth decimal.
QString driftSentence(const Comparison& c)
{
    for (const QuantityResult& result : c.quantities)
        if (result.quantity == Quantity::Loss && result.first)
            return Tr::tr("The loss parts by more than 4 decimals from step %1; whether that is rounding, a "
                          "twin or a "
                          "measured envelope can tell.")
                .arg(result.first->step);
    return Tr::tr("The loss stays equal at 4 decimals to the end.");
}

RunComparison cannotCompare(RunComparison out, const QString& reason)
{
    out.verdict = State::CannotCompare;
    out.headline = Tr::tr("The runs cannot be compared");
    out.brief = Tr::tr("cannot compare");
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
    const Result<Comparison> compared = compareRuns(*readerA, a.config, *readerB, b.config, options);
    if (!compared)
        return cannotCompare(out, qs(compared.error().sentence()));
    const Comparison& c = *compared;
    if (c.verdict == Verdict::CannotCompare)
        return cannotCompare(out, qs(c.reason));

    const Judged judged{c, c.tolerance.mode == CompareMode::Exact};
    const FirstDifference* origin = judged.origin();
    for (int i = 0; i < int(CausalLink::None); ++i)
        out.links.push_back(linkRow(CausalLink(i), judged, origin));
    for (const FirstDifference& difference : c.first())
        if (judged.counts(difference))
            out.first.push_back(rowOf(difference, judged.exact));
    for (const QuantityResult& result : c.quantities)
        out.points += result.points;
    const QString extent =
        Tr::tr("%1 values in steps %2-%3").arg(formatCount(out.points)).arg(c.firstStep).arg(c.lastStep);
    if (origin) {
        const DivergenceRow first = rowOf(*origin, judged.exact);
        out.verdict = State::Diverged;
        out.firstStep = origin->step;
        out.firstLink = linkTitle(linkOf(origin->quantity));
        out.brief = out.firstLink;
        out.headline =
            Tr::tr("First divergent step %1: %2").arg(origin->step).arg(quantityTitle(origin->quantity));
        out.sentence =
            Tr::tr("%1: %2 in A, %3 in B, limit %4. Compared: %5.")
                .arg(origin->rank >= 0 ? Tr::tr("Rank %1").arg(origin->rank) : Tr::tr("All ranks together"),
                     first.a, first.b, first.limit, extent);
    } else if (judged.exact) {
        out.verdict = State::Holds;
        out.headline = Tr::tr("0 bits differ");
        out.brief = out.headline;
        out.sentence = Tr::tr("Compared: %1, rank by rank, limit 0 bits.").arg(extent);
    } else {
        out.verdict = State::Holds;
        out.headline = Tr::tr("The first batch agrees at 4 decimals");
        out.brief = Tr::tr("agrees at step 1");
        out.sentence = Tr::tr("The same samples in steps %1-%2.").arg(c.firstStep).arg(c.lastStep) +
                       QLatin1Char(' ') + driftSentence(c);
    }
    return out;
}

} // namespace lockstep
