// What the rule files share: a suspicion, the case it is raised on, and the list of families.
#pragma once

#include "core/align/diagnose.h"
#include "core/align/diagnose/case.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::align {

// A cause that fits the numbers. `fit` orders suspicions of one case: 90 and more is a signature only this mechanism and
// its bit-equal twins leave, 60 fits by its pattern, 30 is what remains when nothing sharper does.
struct Suspicion {
    std::string cause;
    int fit = 0;
    std::int64_t step = -1;
    int rank = -1;
    std::string parameter;
    std::string sentence,
        fix; // in place of the catalogue's, where it speaks of a neighbour of this; no last full stop
    bool open = false; // never more than possible: the records do not show all it takes
    std::string fact;  // completes the catalogue's sentence with the numbers; a whole sentence
    std::map<std::string, std::string> solved; // parameters of the deviation, for a replay
    std::vector<Evidence> evidence;
    std::vector<Evidence> excluded;
    bool benign = false; // here, whatever the catalogue says of the cause
    // Suspicions of one case with the same word here are the same bits in its setting, by arithmetic: one finding.
    std::string sameBits;
};
using Suspicions = std::vector<Suspicion>;
using Rule = void (*)(const Case&, Suspicions&);

inline constexpr int kSignature = 90;
inline constexpr int kPattern = 60;
inline constexpr int kRemainder = 30;

std::span<const Rule> dataRules();
std::span<const Rule> epochTailRules();
std::span<const Rule> lossRules();
std::span<const Rule> shareRules();
std::span<const Rule> synchronisationRules();
std::span<const Rule> rateRules();
std::span<const Rule> optimizerRules();
std::span<const Rule> clippingRules();
std::span<const Rule> randomLayerRules();
std::span<const Rule> precisionRules();
std::span<const Rule> checkpointRules();
std::span<const Rule> loggingRules();
std::span<const Rule> scriptRules();
std::span<const Rule> scriptOptimizerRules();
std::span<const Rule> evaluationRules();

// Whether both runs are scripts of the user's own.
bool bothScripts(const Case& c);
// A suspicion with the one row of evidence that says the same as its fact.
Suspicion suspect(const char* cause, int fit, std::int64_t step, const std::string& label, std::string fact,
                  std::optional<Quantity> quantity = {});
// Whether data and state are the reference's up to the step; then what differs was made in it.
bool sameInputs(const Case& c, std::int64_t step);
// The step at which the data parts, by ids or by how many there are; -1: it does not. Nothing numeric can cause that.
std::int64_t dataStart(const Case& c);
// "2", "0.25": a number that was solved, rounded to the fraction it stands for where it is one within 1e-4.
std::string factorText(double factor);
double roundedFactor(double factor);
// The step at which the deviation begins, as its parameter.
void solveStep(Suspicion& suspicion, std::int64_t step);
// Scripts: whether another update from equal gradients and settings is what an optimizer that divides by the size of the
// gradient makes of rounding. Possible: so it may be, and the records do not show that it is.
enum class Amplified { No, Possible, Yes };
Amplified roundingAmplified(const Case& c, std::int64_t step);
// Whether the run draws random numbers inside a step, as dropout does, from torch's generator or from any; whether it keeps
// batch statistics.
bool torchDrawsEachStep(const RunTrace& run);
bool drawsEachStep(const RunTrace& run);
bool batchStatistics(const RunTrace& run);
// Parameters whose fingerprint (or what was recorded of them) differs at the step, on the last rank; rank by rank only.
struct TensorCount {
    std::vector<std::string> names;
    std::size_t all = 0; // parameters both runs recorded; 0: no tensors were recorded
};
TensorCount tensorsOff(const Case& c, std::int64_t step, std::uint64_t TensorRecord::*field);
// "all ranks", "rank 3", "ranks 1, 2".
std::string rankList(const std::vector<int>& ranks, int world);

} // namespace lockstep::align
