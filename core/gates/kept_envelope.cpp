#include "core/gates/kept_envelope.h"

#include "core/gates/config_diff.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace lockstep {

namespace {

std::string fileOf(const std::string& folder)
{
    return folder + "/envelope.json";
}

Error notWritten(const std::string& path, const std::string& why)
{
    return {ErrorKind::Io, fmt::format("{} was not written", path), why,
            "Make room or make the folder writable, then judge the gate again"};
}

} // namespace

Status keepEnvelope(const std::string& folder, const Envelope* envelope)
{
    const std::string path = fileOf(folder), fresh = path + ".new";
    std::error_code error;
    if (!envelope) {
        std::filesystem::remove(path, error);
        return error ? Status(notWritten(path, error.message())) : Status();
    }
    {
        std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
        file << toJson(*envelope);
        if (!file.flush())
            return notWritten(path, "the disk is full or the folder is read-only");
    }
    std::filesystem::rename(fresh, path, error);
    return error ? Status(notWritten(path, error.message())) : Status();
}

bool envelopeSpeaksOf(const RunConfig& measured, const RunConfig& run)
{
    const auto arithmetic = [](const RunConfig& c) {
        RunConfig out;
        out.workload = c.workload;
        out.workloadOptions = c.workloadOptions;
        out.batch = samplesPerStep(c);
        out.order = c.order;
        out.shuffle = c.shuffle;
        out.dropLast = c.dropLast;
        out.seed = c.seed;
        out.samplerSeed = c.samplerSeed;
        out.optimizer = c.optimizer;
        out.lr = c.lr;
        out.momentum = c.optimizer == "sgd" ? c.momentum : 0;
        out.weightDecay = c.weightDecay;
        out.scheduler = c.scheduler;
        out.schedulerPeriod = c.scheduler == "none" ? 0 : c.schedulerPeriod;
        out.device = c.device;
        return out;
    };
    // The gate switches precision and clipping off; a run that has them on does other arithmetic.
    return run.amp == "off" && run.clipNorm == 0 && run.clipValue == 0 &&
           arithmetic(measured) == arithmetic(run);
}

Result<std::optional<Envelope>> keptEnvelope(const std::string& folder, const std::string& judged,
                                             const RunConfig& a, const RunConfig& b)
{
    std::ifstream file(fileOf(folder), std::ios::binary);
    if (!file)
        return std::optional<Envelope>();
    if (!judged.empty()) {
        const Result<RunConfig> measured = runConfigFromJson(judged);
        if (!measured)
            return measured.error();
        if (!envelopeSpeaksOf(*measured, a) || !envelopeSpeaksOf(*measured, b))
            return std::optional<Envelope>();
    }
    std::ostringstream text;
    if (!(text << file.rdbuf()))
        return Error{ErrorKind::Io, fmt::format("{} cannot be read", fileOf(folder)),
                     "it is empty or no file", "Remove it, or judge the gate gradients again"};
    Result<Envelope> kept = envelopeFromJson(text.str());
    if (!kept)
        return kept.error();
    return std::optional(std::move(kept).value());
}

} // namespace lockstep
