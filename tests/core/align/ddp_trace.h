// A small DDP run as a trace: every rank's losses, gradients and parameters as a correct run would have them, to be bent in
// one place by a test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lockstep::test {

struct DdpTrace {
    int world = 2;
    std::int64_t steps = 6;
    int micros = 1;
    int samples = 8;
    double rate = 0.1;

    // What a test bends; by rank and step.
    std::function<double(int, std::int64_t)> localFactor = [](int, std::int64_t) { return 1.0; };
    std::function<double(int, std::int64_t)> lossFactor = [](int, std::int64_t) { return 1.0; };
    std::function<double(std::int64_t)> rateFactor = [](std::int64_t) { return 1.0; };
    std::function<bool(std::int64_t)> reduces = [](std::int64_t) { return true; };
    std::function<double(std::int64_t)> updateFactor = [](std::int64_t) { return 1.0; };
    std::function<bool(int, std::int64_t)> strays = [](int, std::int64_t) {
        return false;
    }; // parameters alone
    bool equalStart = true;
    std::int64_t without = -1; // this rank records nothing

    std::string text() const;
};

} // namespace lockstep::test
