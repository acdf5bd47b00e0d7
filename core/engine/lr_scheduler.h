// Learning-rate schedules in the chained form of torch.optim.lr_scheduler 2.15: each rate follows from the
// one before, in doubles and in Python's order of operations, so the bits agree. Closed forms differ in the
// last bits.
#pragma once

#include "core/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

class LrScheduler
{
public:
    // kind: none, step (StepLR, gamma 0.1), cosine (CosineAnnealingLR, eta_min 0), warmup (LinearLR from 1/3
    // to 1). period: step size, T_max or total_iters in optimizer steps; 0 stands for defaultPeriod(kind,
    // totalSteps).
    LrScheduler(std::string kind, double baseRate, std::int64_t period, std::int64_t totalSteps);

    // A third of the steps for step, all of them for cosine, a tenth for warmup; never below 1.
    static std::int64_t defaultPeriod(const std::string& kind, std::int64_t totalSteps);

    double rate() const { return rate_; } // of the next optimizer step
    void advance();                       // scheduler.step()

    const std::string& kind() const { return kind_; }
    double baseRate() const { return base_; }
    std::int64_t period() const { return period_; }
    std::int64_t lastEpoch() const { return n_; } // Python's name for the number of step() calls
    // Puts a saved schedule back.
    void restore(std::int64_t lastEpoch, double rate);

private:
    std::string kind_;
    double base_;
    double rate_;
    std::int64_t period_;
    std::int64_t n_ = 0;
};

} // namespace lockstep
