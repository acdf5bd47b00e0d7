#include "core/align/compare.h"
#include "ui/models/comparison_model.h"
#include "ui/models/comparison_rule.h"
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

CausalLink linkOf(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info ? info->link : CausalLink::None;
}

// Series of imported logs that are no quantity of ours have a name of their own.
QString titleOf(const FirstDifference& d)
{
    return d.quantity == Quantity::Metric && !d.tag.empty() ? QString::fromStdString(d.tag)
                                                            : quantityTitle(d.quantity);
}

DivergenceRow rowOf(const FirstDifference& d, bool exact)
{
    DivergenceRow out;
    const QuantityInfo* info = quantityInfo(d.quantity);
    out.title = titleOf(d);
    if (info && info->indexed && d.quantity != Quantity::Metric)
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

using Kind = ComparisonRule::Kind;

struct Judged {
    const Comparison& c;
    const ComparisonRule& rule;

    bool counts(const FirstDifference& d) const { return rule.counts(d); }
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
        if (!origin || linkOf(origin->quantity) != which)
            return out;
        // What follows from the settings alone parts: how many samples a step has, which epoch it is.
        out.state = State::Diverged;
        out.firstStep = origin->step;
        out.detail = Tr::tr("first broken link, step %1").arg(origin->step);
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
    } else if (judged.rule.kind == Kind::ByDesign && drift >= 0 && out.firstStep < 0) {
        out.state = State::Off;
        out.detail = Tr::tr("differs by design");
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
        else if (judged.rule.kind == Kind::FourDecimals && which >= CausalLink::Rng)
            out.detail = drift < 0 ? Tr::tr("agrees at step 1") : Tr::tr("agrees to step %1").arg(drift - 1);
        else if (judged.rule.kind == Kind::Envelope && which >= CausalLink::Rng)
            out.detail = Tr::tr("inside the envelope");
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

// The limit of the loss at every measured step, for the band in the plot.
void addBand(const Envelope& envelope, RunReader& reference, const Comparison& c, RunComparison& out)
{
    const EnvelopeBand* band = envelope.band(Quantity::Loss, 0);
    if (!band || c.lastStep < 0)
        return;
    const Result<SeriesData> loss = reference.read({0, Quantity::Loss, 0}, 1, band->lastStep + 1);
    if (!loss)
        return; // no band is drawn; the comparison itself has read it or said why not
    out.repeats = envelope.repeats;
    for (std::size_t i = 0; i < loss->size(); ++i) {
        if (const std::optional<double> limit = band->limit(loss->steps[i], loss->value(i))) {
            out.bandSteps.push_back(loss->steps[i]);
            out.bandLimits.push_back(*limit);
        }
    }
}

QString designSentence(const ComparisonRule& rule)
{
    QStringList why;
    if (rule.batchStatistics)
        why << Tr::tr(
            "BatchNorm: one process normalises over the global batch, a rank over its own samples.");
    if (rule.randomLayers)
        why << Tr::tr("Random layers: every rank draws its own dropout masks.");
    if (rule.mixedPrecision)
        why << Tr::tr(
            "Mixed precision rounds sums coarsely, in another order on several ranks; phase 3 measures "
            "how far.");
    return why.join(QLatin1Char(' '));
}

// "loss 5 decimals, learning rate 7 digits".
QString printedText(const Comparison& c)
{
    QStringList all;
    for (const QuantityResult& result : c.quantities) {
        if (!result.printed)
            continue;
        const QString title = result.quantity == Quantity::Metric ? QString::fromStdString(result.tag)
                                                                  : quantityTitle(result.quantity);
        all << (result.printed->scientific
                    ? Tr::tr("%1 to %2 digits").arg(title).arg(result.printed->digits + 1)
                    : Tr::tr("%1 to %2 decimals").arg(title).arg(result.printed->digits));
    }
    return all.join(QStringLiteral(", "));
}

void nothingParts(const ComparisonRule& rule, const Comparison& c, const QString& extent, RunComparison& out)
{
    const QString same = Tr::tr("The same samples in steps %1-%2.").arg(c.firstStep).arg(c.lastStep);
    out.verdict = State::Holds;
    if (c.verdict == Verdict::EqualAsPrinted) {
        out.headline = Tr::tr("Equal as far as the logs print");
        out.brief = Tr::tr("equal as printed");
        out.sentence = Tr::tr("Compared: %1. A log that prints digits cannot show more than these: %2.")
                           .arg(extent, printedText(c));
        return;
    }
    switch (rule.kind) {
    case Kind::Exact:
        out.headline = Tr::tr("0 bits differ");
        out.brief = out.headline;
        out.sentence = Tr::tr("Compared: %1, rank by rank, limit 0 bits.").arg(extent);
        break;
    case Kind::Envelope:
        out.headline = Tr::tr("Inside the measured envelope");
        out.brief = Tr::tr("inside the envelope");
        out.sentence = Tr::tr("Compared: %1. Limit: what %2 repeats of the single run differ by.")
                           .arg(extent)
                           .arg(rule.envelope->repeats);
        if (!out.bandSteps.empty() && out.bandSteps.back() < c.lastStep)
            out.sentence +=
                QLatin1Char(' ') +
                Tr::tr("The envelope ends at step %1; later steps are not judged.").arg(out.bandSteps.back());
        break;
    case Kind::FourDecimals:
        out.headline = Tr::tr("The first batch agrees at 4 decimals");
        out.brief = Tr::tr("agrees at step 1");
        out.sentence = same + QLatin1Char(' ') + driftSentence(c);
        break;
    case Kind::ByDesign:
        out.verdict = State::CannotCompare;
        out.byDesign = true;
        out.headline = Tr::tr("The model is another function on several ranks, by design");
        out.brief = Tr::tr("differs by design");
        out.sentence = designSentence(rule) + QLatin1Char(' ') + same + QLatin1Char(' ') +
                       Tr::tr("A twin can tell whether anything else differs.");
        break;
    }
}

} // namespace

RunComparison compareEntries(const RunEntry& a, const RunEntry& b, const EnvelopeSource& envelope)
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
    const Result<ComparisonRule> found = ruleFor(a, *readerA, b, envelope);
    if (!found)
        return cannotCompare(out, qs(found.error().sentence()));
    const ComparisonRule& rule = *found;

    CompareOptions options;
    if (rule.kind == Kind::Envelope) {
        options.tolerance.mode = CompareMode::Envelope;
        options.envelope = &*rule.envelope;
    } else if (rule.kind != Kind::Exact) {
        options.tolerance = {CompareMode::Absolute, kFourDecimals};
    }
    const Result<Comparison> compared = compareRuns(*readerA, a.config, *readerB, b.config, options);
    if (!compared)
        return cannotCompare(out, qs(compared.error().sentence()));
    const Comparison& c = *compared;
    if (c.verdict == Verdict::CannotCompare)
        return cannotCompare(out, qs(c.reason));

    const Judged judged{c, rule};
    const FirstDifference* origin = judged.origin();
    for (int i = 0; i < int(CausalLink::None); ++i)
        out.links.push_back(linkRow(CausalLink(i), judged, origin));
    for (const FirstDifference& difference : c.first())
        if (judged.counts(difference))
            out.first.push_back(rowOf(difference, rule.kind == Kind::Exact));
    for (const QuantityResult& result : c.quantities)
        out.points += result.points;
    if (rule.envelope)
        addBand(*rule.envelope, *readerA, c, out);
    const QString extent =
        Tr::tr("%1 values in steps %2-%3").arg(formatCount(out.points)).arg(c.firstStep).arg(c.lastStep);
    if (origin) {
        const DivergenceRow first = rowOf(*origin, rule.kind == Kind::Exact);
        out.verdict = State::Diverged;
        out.firstStep = origin->step;
        out.firstLink = linkTitle(linkOf(origin->quantity));
        out.brief = out.firstLink;
        out.headline = Tr::tr("First divergent step %1: %2").arg(origin->step).arg(titleOf(*origin));
        out.sentence =
            Tr::tr("%1: %2 in A, %3 in B, limit %4. Compared: %5.")
                .arg(origin->rank >= 0 ? Tr::tr("Rank %1").arg(origin->rank) : Tr::tr("All ranks together"),
                     first.a, first.b, first.limit, extent);
    } else {
        nothingParts(rule, c, extent, out);
    }
    return out;
}

} // namespace lockstep
