// The measured envelope: how far apart correct runs of one project lie, per quantity and step. Never a guessed constant.
//
// Input: R >= kMinRepeats runs that should be the same but for rounding: repeats of the single run under perturbations that
// are allowed (threads, micro-batch order, bucket size). For every quantity and step t, with x_i the value of run i:
//
//   worst_i(t) = max over j of |x_i(t) - x_j(t)|
//   D(t)       = max over i and over s <= t + max(8, t / 8) of worst_i(s)      the band: grows, never shrinks
//   D_-i(t)    = the same without run i
//   rho_i      = max over t of worst_i(t) / D_-i(t)                             how far run i left the others' band
//
// Few repeats make a band that the next correct run leaves. rho_i says by how much: each run in turn plays the next one.
// The logarithms of the rho_i are taken for a normal sample, and U is the upper prediction bound for one more of them:
//
//   U = max(1, exp(mean + q * s * sqrt(1 + 1 / R))),   q = Student t quantile 1 - kEnvelopeFalseAlarm, R - 1 degrees
//
// A new run then lies within U * D(t) of every repeat, and two new runs within 2 * U * D(t) of each other (triangle
// inequality). That is the limit. The bound widens fast when repeats are few, so that a poor envelope shows as a large
// `scale` = 2 U and not as false alarms: in the test's noise model about 130 with 5 repeats, 40 with 6, 13 with 8, 8 with 10.
//
// Where D is still zero although the quantity differs somewhere later, its smallest measured step, relative to the value,
// stands in: the granularity of the quantity. A quantity that never differed between the repeats must be equal.
#pragma once

#include "core/base/quantity.h"
#include "core/base/status.h"
#include "core/store/run_reader.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

inline constexpr int kMinRepeats = 5;
// Probability, per quantity, that one more correct run leaves the band, were the model exact.
inline constexpr double kEnvelopeFalseAlarm = 1e-4;

struct EnvelopeBand {
    std::vector<std::int64_t> steps; // ascending; where limits change
    std::vector<double> limits;      // of the steps from steps[i] on, before steps[i + 1]
    std::int64_t lastStep = -1;      // measured up to here
    double granularity = 0;          // smallest difference seen, relative to the value
    double scale = 2;                // the limit is scale * D

    // Empty beyond the measured steps: there is nothing to judge by.
    std::optional<double> limit(std::int64_t step, double value) const;
};

struct Envelope {
    std::map<std::pair<Quantity, std::uint16_t>, EnvelopeBand> bands;
    int repeats = 0;

    const EnvelopeBand* band(Quantity quantity, std::uint16_t index) const;
    bool hasBand(Quantity quantity) const; // for any index
};

// Each repeat is seen as one run (compare.h: several ranks are joined as for a comparison with a single
// process). Errors: Input with fewer than 3 repeats or nothing in common; what the readers report.
Result<Envelope> measureEnvelope(const std::vector<RunReader*>& repeats);

// One JSON document, floats as C hex text, so that a project can keep its envelope.
std::string toJson(const Envelope& envelope);
Result<Envelope> envelopeFromJson(const std::string& text);

} // namespace lockstep
