#include "ui/models/deciding_check.h"

#include "ui/models/check_titles.h"
#include "ui/models/format.h"

#include <charconv>
#include <string_view>

namespace lockstep {

namespace {

struct Headline {
    std::string_view phase, check;
};

// What a phase has to show for itself, the first that was judged: of a script no twin is.
constexpr Headline kHeadlines[] = {
    {"preflight", "preflight.global_batch"}, {"data", "data.omission"},
    {"gradients", "gradients.twin"},         {"gradients", "gradients.loss"},
    {"gradients", "gradients.reduction"},    {"precision", "precision.resume"}};

// "0.05 s": the number in front; 0 for a text without one.
double leadingNumber(const std::string& text)
{
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number); // whatever the locale, a point
    return number;
}

} // namespace

std::size_t decidingCheck(const GateInfo& gate)
{
    // A gate that passed does so in spite of what could not be judged.
    const bool passed = gate.verdict == "pass";
    for (const char* verdict : {"fail", "cannot_judge"})
        for (std::size_t i = 0; !passed && i < gate.checks.size(); ++i)
            if (gate.checks[i].verdict == verdict)
                return i;
    for (const Headline& headline : kHeadlines)
        for (std::size_t i = 0; i < gate.checks.size(); ++i)
            if (gate.phase == headline.phase && gate.checks[i].id == headline.check &&
                gate.checks[i].verdict != "cannot_judge")
                return i;
    std::size_t nearest = 0;
    double most = 0;
    for (std::size_t i = 0; gate.phase == "drills" && i < gate.checks.size(); ++i) {
        const double limit = leadingNumber(gate.checks[i].limit);
        const double share = limit > 0 ? leadingNumber(gate.checks[i].value) / limit : 0;
        if (share > most) {
            most = share;
            nearest = i;
        }
    }
    return nearest;
}

QString decidingText(const GateCheck& check)
{
    const QString title = checkTitle(check.id);
    if (check.verdict == "pass" && !title.isEmpty() && !check.value.empty())
        return QStringLiteral("%1: %2").arg(title, qs(check.value));
    return qs(check.sentence.empty() ? check.value : check.sentence);
}

} // namespace lockstep
