// Findings about a checkpoint: each names a row of the catalogue (catalogue.h), what in this file led to it,
// and what to do.
#pragma once

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/integrity.h"
#include "core/ckpt/parts.h"
#include "core/ckpt/target.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class Severity : std::uint8_t {
    Info,    // worth knowing; the file loads
    Warning, // loads, and something may be wrong afterwards
    Failure, // does not load, or loads damaged values
};
std::string_view severityName(Severity severity);

struct Verdict {
    std::string row;
    Severity severity = Severity::Failure;
    std::string key;                     // tensor or part concerned; may be empty
    std::string file;                    // in folders: file concerned
    std::string record;                  // zip record concerned
    std::optional<std::uint64_t> offset; // byte in the file
    std::string sentence;
    std::string fix;
    std::string errorText;             // what torch says; empty: nothing
    std::vector<std::string> evidence; // more keys, counts
};

// One line of the list of what a resumed run needs.
struct ResumeItem {
    std::string part; // "model", "optimizer", "scheduler", "scaler", "rng", "sampler"
    std::optional<int> rank;
    bool present = false;
    std::string note;
    // False for what only some runs have (a scheduler, a gradient scaler) as long as nothing says that this run has it: its
    // absence is no lack then.
    bool needed = true;
};

// Everything the rules look at. `integrity` is null while the bytes have not been checked.
struct RuleContext {
    const Checkpoint& checkpoint;
    const Parts& parts;
    const IntegrityReport* integrity = nullptr;
    const Target* target = nullptr;
    // Files of the same save by other ranks, this one included; 0: not one of several.
    int rankFiles = 0;
};

// A verdict of that row with the catalogue's fix and error text.
Verdict makeVerdict(std::string_view row, Severity severity, std::string sentence);

// One file each. They append, in the order in which the findings matter.
void fileRules(const RuleContext& context, std::vector<Verdict>& out);        // 16-29, 36-40, N1, N3, N4
void keyRules(const RuleContext& context, std::vector<Verdict>& out);         // 1-11, 34, 35, N2
void distributedRules(const RuleContext& context, std::vector<Verdict>& out); // 12-15, 41
void optimizerRules(const RuleContext& context, std::vector<Verdict>& out);   // 30-33
void storageRules(const RuleContext& context, std::vector<Verdict>& out);     // 42-44
void classRules(const RuleContext& context, std::vector<Verdict>& out);       // 45-47
void resumeRules(const RuleContext& context, std::vector<Verdict>& out,
                 std::vector<ResumeItem>& checklist); // 48

// All of them. On a file that cannot be read, only what fileRules found.
std::vector<Verdict> judge(const RuleContext& context, std::vector<ResumeItem>& checklist);

} // namespace lockstep
