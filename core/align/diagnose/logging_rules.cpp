// B10 and B11: what the script shows is not the loss of the run. Needs no reference.
#include "core/align/diagnose/logged_loss.h"
#include "core/align/diagnose/rules.h"

namespace lockstep::align {

namespace {

void loggedLoss(const Case& c, Suspicions& out)
{
    const std::optional<LoggedLoss> logged = judgeLoggedLoss(c.sus());
    if (!logged || logged->form == LoggedLoss::Mean)
        return;
    // The reference may show its loss in the same way; then the runs do not differ in it.
    const std::optional<LoggedLoss> theirs = c.rankByRank() ? judgeLoggedLoss(c.ref()) : std::nullopt;
    if (theirs && theirs->form == logged->form)
        return;
    Suspicion s;
    s.cause = logged->form == LoggedLoss::OwnRank ? "B10" : "B11";
    s.fit = kSignature + 5;
    s.step = logged->step;
    s.fact = fmt::format(
        "At step {} the log shows {:.7g}; the mean over the ranks is {:.7g}, rank 0's own loss {:.7g}.",
        logged->step, logged->shown, logged->mean, logged->own);
    s.evidence.push_back({"loss as logged", s.fact, Quantity::LossLogged, logged->step, 0, {}});
    const std::int64_t spread = c.first(Quantity::ParamFingerprint);
    if (c.rankByRank() && spread < 0)
        s.excluded.push_back({"B8",
                              "all parameters are the reference's: training itself is right",
                              Quantity::ParamFingerprint,
                              s.step,
                              -1,
                              {}});
    s.excluded.push_back(
        logged->form == LoggedLoss::OwnRank
            ? Evidence{"B11", "it is not the sum", Quantity::LossLogged, s.step, 0, {}}
            : Evidence{"B10", "it is not rank 0's own loss", Quantity::LossLogged, s.step, 0, {}});
    out.push_back(std::move(s));
}

constexpr Rule kRules[] = {loggedLoss};

} // namespace

std::span<const Rule> loggingRules()
{
    return kRules;
}

} // namespace lockstep::align
