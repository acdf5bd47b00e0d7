#include "core/gates/kept_envelope.h"

#include "core/config/json.h"
#include "core/gates/config_diff.h"
#include "core/gates/gradients_facts.h"
#include "core/gates/sample_agreement.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace lockstep {

namespace {

constexpr const char* kTrained = "trained"; // beside the fields of the envelope

std::string fileOf(const std::string& folder, KeptBy gate)
{
    return folder + (gate == KeptBy::Gradients ? "/envelope.json" : "/envelope-precision.json");
}

bool fullPrecision(const RunConfig& c)
{
    return c.amp == "off" && c.clipNorm == 0 && c.clipValue == 0;
}

// What decides the numbers of a run, apart from how its sums are split.
RunConfig arithmetic(const RunConfig& c)
{
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
    out.amp = c.amp;
    out.clipNorm = c.clipNorm;
    out.clipValue = c.clipValue;
    if (!isScript(c))
        return out;
    // The two scripts of a migration have names, commands and samplers of their own; which samples they train on is compared.
    out.workload.clear();
    for (const char* own : {"script", "command", "sampler", "sampler_replicas", "batch_sampler"})
        out.workloadOptions.erase(own);
    out.order = RunConfig().order;
    out.shuffle = RunConfig().shuffle;
    out.dropLast = RunConfig().dropLast;
    out.samplerSeed = 0;
    return out;
}

// Of two scripts one has to be that of the gate's: another model may be set up in the same way.
bool sameScript(const RunConfig& measured, const RunConfig& a, const RunConfig& b)
{
    return !isScript(measured) || a.workload == measured.workload || b.workload == measured.workload;
}

std::string withConfig(const Envelope& envelope, const RunConfig& trained)
{
    rapidjson::Document document, config;
    document.Parse(toJson(envelope).c_str());
    config.Parse(toJson(trained).c_str());
    document.AddMember(rapidjson::StringRef(kTrained), config, document.GetAllocator());
    return jsonText(document);
}

// How the runs of the file's gate were set up.
Result<RunConfig> trainedOf(const std::string& text)
{
    const Result<rapidjson::Document> document = parseJson(text, "the envelope");
    if (!document)
        return document.error();
    if (!document->IsObject() || !document->HasMember(kTrained))
        return Error{ErrorKind::Input, "The stored envelope cannot be used", "it does not say of which runs",
                     "Judge the gate precision again"};
    return runConfigFromJson(jsonText((*document)[kTrained]));
}

Error notWritten(const std::string& path, const std::string& why)
{
    return {ErrorKind::Io, fmt::format("{} was not written", path), why,
            "Make room or make the folder writable, then judge the gate again"};
}

} // namespace

Status keepEnvelope(const std::string& folder, const Envelope* envelope, KeptBy gate,
                    const RunConfig& trained)
{
    const std::string path = fileOf(folder, gate), fresh = path + ".new";
    std::error_code error;
    if (!envelope) {
        std::filesystem::remove(path, error);
        return error ? Status(notWritten(path, error.message())) : Status();
    }
    {
        std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
        file << (gate == KeptBy::Gradients ? toJson(*envelope) : withConfig(*envelope, trained));
        if (!file.flush())
            return notWritten(path, "the disk is full or the folder is read-only");
    }
    std::filesystem::rename(fresh, path, error);
    return error ? Status(notWritten(path, error.message())) : Status();
}

Status keepMeasuredEnvelope(const std::string& folder, const std::vector<RunReader*>& repeats, KeptBy gate,
                            const RunConfig& trained)
{
    if (repeats.empty())
        return keepEnvelope(folder, nullptr, gate);
    const Result<bool> statistics = hasBatchStatistics(*repeats.front());
    if (!statistics)
        return statistics.error();
    const Result<Envelope> measured = measureEnvelope(repeats);
    return keepEnvelope(folder, !*statistics && measured ? &*measured : nullptr, gate, trained);
}

bool envelopeSpeaksOf(const RunConfig& measured, const RunConfig& run)
{
    // The gate switches precision and clipping off; a run that has them on does other arithmetic.
    RunConfig plain = measured;
    plain.amp = "off";
    plain.clipNorm = plain.clipValue = 0;
    return arithmetic(plain) == arithmetic(run);
}

Result<std::optional<Envelope>> keptEnvelope(const std::string& folder, const std::string& judged,
                                             const RunConfig& a, const RunConfig& b)
{
    const KeptBy gate = fullPrecision(a) ? KeptBy::Gradients : KeptBy::Precision;
    std::ifstream file(fileOf(folder, gate), std::ios::binary);
    if (!file)
        return std::optional<Envelope>();
    if (gate == KeptBy::Gradients && !judged.empty()) {
        const Result<RunConfig> measured = runConfigFromJson(judged);
        if (!measured)
            return measured.error();
        if (!envelopeSpeaksOf(*measured, a) || !envelopeSpeaksOf(*measured, b) ||
            !sameScript(*measured, a, b))
            return std::optional<Envelope>();
    }
    std::ostringstream text;
    if (!(text << file.rdbuf()))
        return Error{ErrorKind::Io, fmt::format("{} cannot be read", fileOf(folder, gate)),
                     "it is empty or no file", "Remove it, or judge the gate again"};
    if (gate == KeptBy::Precision) {
        const Result<RunConfig> trained = trainedOf(text.str());
        if (!trained)
            return trained.error();
        if (arithmetic(*trained) != arithmetic(a) || arithmetic(*trained) != arithmetic(b) ||
            !sameScript(*trained, a, b))
            return std::optional<Envelope>();
    }
    Result<Envelope> kept = envelopeFromJson(text.str());
    if (!kept)
        return kept.error();
    return std::optional(std::move(kept).value());
}

} // namespace lockstep
