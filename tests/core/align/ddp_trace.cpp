#include "tests/core/align/ddp_trace.h"

#include "core/base/projection.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace lockstep::test {

namespace {

// Projections of the gradient of a rank at a step; any numbers do, as long as the ranks' are not proportional.
Projection gradientOf(int rank, std::int64_t step)
{
    Projection p;
    for (int k = 0; k < kProjections; ++k)
        p[std::size_t(k)] = std::sin(1.0 + rank * 1.7 + double(step) * 0.9 + k * 2.3);
    return p;
}

double normOf(const Projection& p)
{
    double squares = 0;
    for (const double part : p)
        squares += part * part;
    return std::sqrt(squares);
}

} // namespace

// Parameters are a running fingerprint of every gradient and rate that went into them: equal inputs, equal bits.
std::string DdpTrace::text() const
{
    std::string out = fmt::format("mode ddp\nworld {}\n", world);
    std::array<std::uint64_t, 64> state = {};
    for (int r = 0; r < world; ++r)
        state[std::size_t(r)] = equalStart ? 1000 : 1000 + std::uint64_t(r);
    const auto put = [&](int rank, const char* name, std::int64_t step, double value) {
        if (rank != without)
            out += fmt::format("{} {} @{}: {:.17g}\n", rank, name, step, value);
    };
    const auto putWord = [&](int rank, const char* name, std::int64_t step, std::uint64_t value) {
        if (rank != without)
            out += fmt::format("{} {} @{}: {}\n", rank, name, step, value);
    };
    for (int r = 0; r < world; ++r) {
        putWord(r, "param_fingerprint", 0, state[std::size_t(r)]);
        putWord(r, "rng_cpu", 0, std::uint64_t(77 + r));
    }
    for (std::int64_t step = 1; step <= steps; ++step) {
        std::array<Projection, 64> locals = {};
        Projection mean = {};
        for (int r = 0; r < world; ++r)
            for (std::size_t k = 0; k < kProjections; ++k) {
                // What parameters were before tells in the gradient, as in a real run.
                const double drift = double((state[std::size_t(r)] * 2654435761u) % 1000) * 1e-3;
                locals[std::size_t(r)][k] = (gradientOf(r, step)[k] + drift) * localFactor(r, step);
                mean[k] += locals[std::size_t(r)][k] / world;
            }
        for (int r = 0; r < world; ++r) {
            const Projection& local = locals[std::size_t(r)];
            const Projection& reduced = reduces(step) ? mean : local;
            putWord(r, "epoch", step, 0);
            putWord(r, "micro_steps", step, std::uint64_t(micros));
            putWord(r, "samples_seen", step, std::uint64_t(step * samples * micros * world));
            putWord(r, "rng_cpu", step, std::uint64_t(77 + r));
            put(r, "loss", step, (2.0 + 0.1 * r - 0.01 * double(step)) * lossFactor(r, step));
            for (int m = 0; m < micros; ++m)
                putWord(r, fmt::format("samples[{}]", m).c_str(), step, std::uint64_t(samples));
            putWord(r, "sample_ids", step, std::uint64_t(step * 100 + r));
            put(r, "lr[0]", step, rate * rateFactor(step));
            put(r, "grad_norm_local", step, normOf(local));
            put(r, "grad_norm", step, normOf(reduced));
            for (int k = 0; k < kProjections; ++k) {
                put(r, fmt::format("grad_proj_local[{}]", k).c_str(), step, local[std::size_t(k)]);
                put(r, fmt::format("grad_proj[{}]", k).c_str(), step, reduced[std::size_t(k)]);
            }
            const double update = normOf(reduced) * rate * rateFactor(step) * updateFactor(step);
            put(r, "update_norm", step, update);
            state[std::size_t(r)] += std::uint64_t(std::llround(update * 1e6)) + (strays(r, step) ? 1 : 0);
            putWord(r, "param_fingerprint", step, state[std::size_t(r)]);
        }
    }
    return out;
}

} // namespace lockstep::test
