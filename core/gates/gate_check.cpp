#include "core/gates/gate_check.h"

#include <utility>

namespace lockstep {

GateCheck& addCheck(std::vector<GateCheck>& checks, std::string id, bool holds, std::string value,
                    std::string limit, std::string sentence)
{
    GateCheck check;
    check.id = std::move(id);
    check.verdict = holds ? "pass" : "fail";
    check.value = std::move(value);
    check.limit = std::move(limit);
    check.sentence = std::move(sentence);
    checks.push_back(std::move(check));
    return checks.back();
}

GateCheck& addUnjudged(std::vector<GateCheck>& checks, std::string id, std::string why)
{
    GateCheck& check = addCheck(checks, std::move(id), false, "not judged", "", std::move(why));
    check.verdict = "cannot_judge";
    return check;
}

std::string verdictOf(const std::vector<GateCheck>& checks,
                      const std::function<bool(const GateCheck&)>& dispensable)
{
    bool judged = !checks.empty();
    for (const GateCheck& check : checks) {
        if (check.verdict == "fail")
            return "fail";
        judged = judged && (check.verdict == "pass" || (dispensable && dispensable(check)));
    }
    return judged ? "pass" : "cannot_judge";
}

} // namespace lockstep
