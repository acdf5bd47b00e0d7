// Runs of a script of the user's own as traces, in one process and with two ranks, to be bent in one place by a test.
#pragma once

#include "core/base/projection.h"
#include "tests/core/align/run_pair.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>

namespace lockstep::test {

// A script that trains on `kParts` parts of a batch: one process on all of them, two ranks on one each.
constexpr int kParts = 2;

using Vector = Projection; // a gradient of as many elements as there are projections

inline Vector partOf(int part, int step)
{
    Vector v;
    for (std::size_t k = 0; k < v.size(); ++k)
        v[k] = std::sin(1.0 + part * 1.7 + step * 0.9 + double(k) * 2.3);
    return v;
}

inline Vector times(double factor, Vector v)
{
    for (double& element : v)
        element *= factor;
    return v;
}

inline Vector weighted(double first, double second, int step)
{
    Vector v = times(first, partOf(0, step)), other = partOf(1, step);
    for (std::size_t k = 0; k < v.size(); ++k)
        v[k] += second * other[k];
    return v;
}

inline double length(const Vector& v)
{
    double squares = 0;
    for (const double element : v)
        squares += element * element;
    return std::sqrt(squares);
}

inline double lossOfPart(int part, int step)
{
    return 2.0 + 0.5 * part - 0.01 * step;
}

struct Script {
    int world = 1;
    int steps = 6;
    // Of a rank at a step.
    std::function<Vector(int, int)> local, reduced;
    std::function<double(int, int)> loss;
    std::string more; // further lines of the trace

    std::string text() const
    {
        std::string out = fmt::format("mode {}\nworld {}\n", world > 1 ? "ddp" : "single", world);
        for (int rank = 0; rank < world; ++rank) {
            out += fmt::format("{} param_fingerprint @0: 5\n", rank);
            for (int step = 1; step <= steps; ++step) {
                const auto put = [&](const std::string& name, double value) {
                    out += fmt::format("{} {} @{}: {:.17g}\n", rank, name, step, value);
                };
                const Vector in = local(rank, step), taken = reduced(rank, step);
                put("loss", loss(rank, step));
                put("grad_norm_local", length(in));
                put("grad_norm", length(taken));
                for (std::size_t k = 0; k < in.size(); ++k) {
                    put(fmt::format("grad_proj_local[{}]", k), in[k]);
                    put(fmt::format("grad_proj[{}]", k), taken[k]);
                }
            }
        }
        return out + more;
    }
};

inline Script oneProcess()
{
    Script script;
    script.local = script.reduced = [](int, int step) { return weighted(0.5, 0.5, step); };
    script.loss = [](int, int step) { return (lossOfPart(0, step) + lossOfPart(1, step)) / kParts; };
    return script;
}

inline Script twoRanks()
{
    Script script = oneProcess();
    script.world = 2;
    script.local = [](int rank, int step) { return partOf(rank, step); };
    script.loss = lossOfPart;
    return script;
}

// The same line for every rank; "{}" stands for the rank.
inline std::string onRanks(int world, const char* line)
{
    std::string out;
    for (int rank = 0; rank < world; ++rank)
        out += fmt::format("{} {}\n", rank, line);
    return out;
}

class Scripts : public Pair
{
public:
    Scripts(const Script& a, const Script& b) : Pair(a.text(), b.text())
    {
        configA().workloadOptions["script"] = configB().workloadOptions["script"] = "train.py";
    }
};

} // namespace lockstep::test
