// The names and shapes of a checkpoint against those of the model it is to be loaded into (rows 1 to 11, 34, 35, 42, N2). Each known
// cause takes the names it explains out of the two lists of differences; what is left at the end is reported as it is.
#pragma once

#include "core/ckpt/prefix.h"
#include "core/ckpt/verdict.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace lockstep {

struct NamedShape {
    std::string name;
    std::vector<std::int64_t> shape;
    bool known = true; // a sharded checkpoint also lists keys that are no tensors
};

class KeyComparison
{
public:
    // `context.target` is set. Findings are appended to `out`.
    KeyComparison(const RuleContext& context, std::vector<NamedShape> keys, std::vector<Verdict>& out);
    void run();

private:
    using Names = std::vector<std::string>;

    // key_comparison.cpp: causes that concern single names
    void takeCounters();
    void takeAveraged();
    void takeParametrized();
    void takeTied();
    void compareShapes();
    void reportRest();
    void reportShardKeys();
    // key_wrappers.cpp: wrapper segments and prefixes
    void takeWrappers();
    void reportPrefix(const std::string& prefix);
    void reportDropped(const KeyMapping& mapping, const Names& changed);
    void reportWrappedModel(const KeyMapping& mapping, const Names& here, const Names& there);

    // A finding about `names`: the first is its key, all are evidence.
    Verdict& report(std::string_view row, Severity severity, std::string sentence, const Names& names);

    const RuleContext& context_;
    std::vector<NamedShape> keys_;
    std::vector<Verdict>& out_;
    std::unordered_map<std::string, const Target::Shape*> wanted_;
    std::unordered_map<std::string, const NamedShape*> have_;
    Names missing_;
    Names unexpected_;
    KeyMapping mapping_;
};

// "head.parametrizations.weight.original0" -> "head.weight"; empty if it is no parametrized key.
std::string parametrizedName(const std::string& key);
std::string lastSegment(const std::string& key);
bool isFolderOfShards(const Checkpoint& checkpoint);
// The first names, as evidence of a finding.
std::vector<std::string> firstNames(const std::vector<std::string>& names);

} // namespace lockstep
