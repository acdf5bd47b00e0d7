#include "core/ckpt/verdict.h"

#include "core/ckpt/catalogue.h"

#include <cassert>

namespace lockstep {

std::string_view severityName(Severity severity)
{
    switch (severity) {
    case Severity::Info:
        return "info";
    case Severity::Warning:
        return "warning";
    case Severity::Failure:
        return "failure";
    }
    return "";
}

Verdict makeVerdict(std::string_view row, Severity severity, std::string sentence)
{
    const CatalogueRow* entry = catalogueRow(row);
    assert(entry);
    Verdict verdict;
    verdict.row = row;
    verdict.severity = severity;
    verdict.sentence = std::move(sentence);
    verdict.fix = entry->fix;
    verdict.errorText = entry->errorText;
    return verdict;
}

std::vector<Verdict> judge(const RuleContext& context, std::vector<ResumeItem>& checklist)
{
    std::vector<Verdict> verdicts;
    fileRules(context, verdicts);
    if (context.checkpoint.root == kNone)
        return verdicts;
    keyRules(context, verdicts);
    distributedRules(context, verdicts);
    optimizerRules(context, verdicts);
    storageRules(context, verdicts);
    classRules(context, verdicts);
    resumeRules(context, verdicts, checklist);
    return verdicts;
}

} // namespace lockstep
