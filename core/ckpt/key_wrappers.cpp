// Wrappers between the names of a checkpoint and those of a model: rows 1 to 5 and 8.
#include "core/ckpt/key_comparison.h"

#include <algorithm>
#include <set>

namespace lockstep {
namespace {

bool hasSegment(std::string_view name, std::string_view segment)
{
    const auto segments = splitKey(name);
    return std::find(segments.begin(), segments.end(), segment) != segments.end();
}

} // namespace

void KeyComparison::reportPrefix(const std::string& prefix)
{
    const std::string path = prefix.substr(0, prefix.size() - 1);
    const auto segments = splitKey(path);
    const bool wrappers = std::all_of(segments.begin(), segments.end(), isWrapperSegment);
    const std::string_view row = hasSegment(path, "_orig_mod") ? "4" : wrappers ? "1" : "8";
    std::string sentence = "All keys carry the prefix " + prefix;
    if (!context_.parts.models.empty() && !context_.parts.model()->path.empty())
        sentence += " (the weights lie in " + context_.parts.model()->path + ")";
    Verdict verdict = makeVerdict(row, Severity::Failure, sentence);
    verdict.fix = "Strip it: ckpt convert --strip " + prefix;
    for (const std::string_view segment : segments)
        verdict.evidence.push_back(std::string(segment) + ".");
    out_.push_back(std::move(verdict));
}

// Segments that stand in the middle of some names on one side only.
void KeyComparison::reportDropped(const KeyMapping& mapping, const Names& changed)
{
    for (const std::string& segment : mapping.drop) {
        Names withIt;
        bool leading = true;
        for (const std::string& name : changed) {
            if (!hasSegment(name, segment))
                continue;
            withIt.push_back(name);
            leading = leading && isWrapperSegment(splitKey(name).front());
        }
        if (withIt.empty())
            continue;
        const bool shards = isFolderOfShards(context_.checkpoint);
        const std::string_view row = leading               ? (segment == "_orig_mod" ? "4" : "1")
                                     : segment == "module" ? "3"
                                     : shards              ? "5"
                                                           : "4";
        report(row, Severity::Failure,
               "The wrapper segment " + segment + " stands inside " + std::to_string(withIt.size()) +
                   (withIt.size() == 1 ? " key" : " keys") + ", for instance " + withIt.front(),
               withIt)
            .fix = "Drop it wherever it stands: ckpt convert --drop-wrappers";
    }
}

// The model is wrapped inside and the checkpoint is not.
void KeyComparison::reportWrappedModel(const KeyMapping& mapping, const Names& here, const Names& there)
{
    const bool wrapped =
        std::any_of(mapping.drop.begin(), mapping.drop.end(), [&](const std::string& segment) {
            const auto has = [&](const std::string& name) { return hasSegment(name, segment); };
            return std::any_of(there.begin(), there.end(), has) &&
                   std::none_of(here.begin(), here.end(), has);
        });
    if (wrapped)
        report("2", Severity::Failure,
               "The model is wrapped and the checkpoint is plain: " + here.front() + " here is " +
                   there.front() + " there",
               here)
            .evidence.clear();
}

void KeyComparison::takeWrappers()
{
    if (missing_.empty() || unexpected_.empty())
        return;
    const KeyMapping mapping = findMapping(unexpected_, missing_);
    if (mapping.identity() || mapping.matched == 0)
        return;
    Names changedHere, changedThere;
    std::set<std::string> names;
    std::unordered_map<std::string, std::string> byName;
    for (const std::string& name : missing_)
        byName.emplace(mapping.fromB(name), name);
    std::erase_if(unexpected_, [&](const std::string& name) {
        const auto found = byName.find(mapping.fromA(name));
        if (found == byName.end())
            return false;
        changedHere.push_back(name);
        changedThere.push_back(found->second);
        names.insert(found->second);
        return true;
    });
    std::erase_if(missing_, [&](const std::string& name) { return names.contains(name); });

    if (!mapping.drop.empty()) {
        reportDropped(mapping, changedHere);
        reportWrappedModel(mapping, changedHere, changedThere);
    }
    if (!mapping.prefixA.empty())
        reportPrefix(mapping.prefixA);
    if (!mapping.prefixB.empty()) {
        Verdict verdict =
            makeVerdict("2", Severity::Failure,
                        "The model's keys carry " + mapping.prefixB + " and the checkpoint's do not");
        verdict.fix = "Load before wrapping the model, or: ckpt convert --add-prefix " + mapping.prefixB;
        verdict.evidence = {mapping.prefixB};
        out_.push_back(std::move(verdict));
    }
    if (mapping_.identity())
        mapping_ = mapping;
}

} // namespace lockstep
