#include "core/ckpt/verify.h"

#include "core/ckpt/open.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace lockstep {
namespace {

// Files whose names differ in one number only, like rank0.pt and rank1.pt: one save by several ranks.
std::map<std::string, std::vector<std::string>> numberedFiles(const std::vector<std::string>& files)
{
    std::map<std::string, std::vector<std::string>> groups;
    for (const std::string& file : files) {
        std::string pattern;
        for (std::size_t i = 0; i < file.size(); ++i) {
            if (!std::isdigit(static_cast<unsigned char>(file[i])))
                pattern += file[i];
            else if (pattern.empty() || pattern.back() != '#')
                pattern += '#';
        }
        if (pattern.find('#') != std::string::npos)
            groups[pattern].push_back(file);
    }
    std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
    return groups;
}

// Random number states are one file per rank too; resumeRules looks at their names.
bool isRandomState(const std::string& file)
{
    return file.starts_with("rng_state") || file.starts_with("random_states");
}

void judgeFile(const Checkpoint& checkpoint, const Target* target, const VerifyOptions& options,
               int rankFiles, VerifyReport& report)
{
    const Parts parts = findParts(checkpoint);
    IntegrityReport integrity;
    RuleContext context{checkpoint, parts, nullptr, target, rankFiles};
    if (options.checkBytes) {
        integrity = checkIntegrity(checkpoint, options.threads);
        context.integrity = &integrity;
        report.bytesChecked += integrity.bytesChecked;
        report.recordsChecked += integrity.recordsChecked;
        report.recordsWithoutCrc += integrity.recordsWithoutCrc;
        if (!integrity.problems.empty())
            report.result = "damaged";
    }
    std::vector<Verdict> verdicts = judge(context, report.resume);
    std::move(verdicts.begin(), verdicts.end(), std::back_inserter(report.verdicts));
}

// Each file of a group by itself; a finding that holds for all of them is told once.
void judgeGroup(const std::string& folder, const std::vector<std::string>& files, const Target* target,
                const VerifyOptions& options, VerifyReport& report)
{
    std::set<std::pair<std::string, std::string>> told;
    for (const Verdict& verdict : report.verdicts)
        told.emplace(verdict.row, "");
    for (const std::string& file : files) {
        const Result<Checkpoint> checkpoint = openCheckpoint(folder + "/" + file);
        if (!checkpoint) {
            Verdict verdict = makeVerdict("24", Severity::Failure, checkpoint.error().sentence());
            verdict.file = file;
            report.verdicts.push_back(std::move(verdict));
            report.result = "damaged";
            continue;
        }
        VerifyReport single;
        single.result = checkpoint->result();
        judgeFile(*checkpoint, target, options, static_cast<int>(files.size()), single);
        report.bytesChecked += single.bytesChecked;
        report.recordsChecked += single.recordsChecked;
        report.recordsWithoutCrc += single.recordsWithoutCrc;
        if (single.result == "damaged")
            report.result = "damaged";
        for (Verdict& verdict : single.verdicts) {
            if (!told.emplace(verdict.row, verdict.key).second)
                continue;
            verdict.file = file;
            report.verdicts.push_back(std::move(verdict));
        }
        if (report.resume.empty())
            report.resume = std::move(single.resume);
    }
}

} // namespace

bool VerifyReport::passed() const
{
    return std::none_of(verdicts.begin(), verdicts.end(),
                        [](const Verdict& v) { return v.severity == Severity::Failure; });
}

Result<VerifyReport> verifyCheckpoint(const std::string& path, const Target* target,
                                      const VerifyOptions& options)
{
    const Result<Checkpoint> checkpoint = openCheckpoint(path);
    if (!checkpoint)
        return checkpoint.error();
    VerifyReport report;
    report.path = path;
    report.container = checkpoint->container;
    report.result = checkpoint->result();
    if (checkpoint->container == Container::Folder) {
        bool ranks = false;
        for (const auto& [pattern, files] : numberedFiles(checkpoint->fileNames)) {
            if (isRandomState(files.front()))
                continue;
            ranks = true;
            judgeGroup(path, files, target, options, report);
        }
        if (!ranks)
            judgeFile(*checkpoint, target, options, 0, report);
    } else {
        judgeFile(*checkpoint, target, options, 0, report);
    }
    if (report.result == "damaged") {
        SalvagePlan plan = planSalvage(path);
        if (!plan.keysWhole.empty() || !plan.recordsWhole.empty())
            report.salvage = std::move(plan);
    }
    return report;
}

} // namespace lockstep
