// Family B of the fault catalogue, the log: what a script shows as its loss.
#include "core/engine/fault.h"

namespace lockstep {

namespace {

class OwnLossLogged final : public Fault
{
public:
    explicit OwnLossLogged(const FaultSpec&) {}
    LogForm logForm(LogForm) override { return LogForm::Own; }
};

class SummedLossLogged final : public Fault
{
public:
    explicit SummedLossLogged(const FaultSpec&) {}
    LogForm logForm(LogForm) override { return LogForm::Sum; }
};

const FaultRegistration loggingRegistrations[] = {
    faultRegistration<OwnLossLogged>(
        {.id = "B10",
         .sentence = "rank 0 logs its own loss as if it were that of all ranks",
         .title = "rank 0's loss logged",
         .signs = "parameters equal the reference's; the logged loss is rank 0's",
         .sources = "Lightning #12407; ArcticTraining #62; modded-nanogpt #2",
         .needs = {FaultNeed::Log, FaultNeed::Several}}),
    faultRegistration<SummedLossLogged>(
        {.id = "B11",
         .sentence = "the logged loss is the sum over ranks",
         .title = "summed log",
         .signs = "parameters equal the reference's; the logged loss is W times the "
                  "mean of the ranks' losses",
         .sources = "Lightning #5759, #4395",
         .needs = {FaultNeed::Log, FaultNeed::Several}}),
};

} // namespace

} // namespace lockstep
