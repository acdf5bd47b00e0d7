#include "core/gates/config_diff.h"

#include "core/gates/config_keys.h"
#include "core/gates/gate_check.h"
#include "core/gates/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace lockstep {

namespace {

constexpr const char* kOwnDropout = "-1"; // the workload decides

std::string joinedIds(const std::vector<std::int64_t>& ids)
{
    return ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, " "));
}

class Diff
{
public:
    Diff(const RunConfig& single, const RunConfig& ddp, const SampleAgreement* samples)
        : single_(single),
          ddp_(ddp),
          samples_(samples),
          scripts_(isScript(single) && isScript(ddp)),
          a_(flatten(single)),
          b_(flatten(ddp))
    {
    }

    std::vector<GateCheck> checks()
    {
        batch();
        learningRate();
        accumulation();
        same("preflight.dtype", {"amp"}, "",
             scripts_ ? "Use the same autocast and GradScaler in both scripts; phase 3 is about them"
                      : "Train both runs with the same --amp; phase 3 changes it on its own");
        order();
        dealt("preflight.shuffle", "shuffle", "A10", "Shuffle in both runs or in none");
        dealt("preflight.drop_last", "drop_last", "A6", "Set drop_last to the same value in both runs");
        same("preflight.seed", {"seed"}, "C7",
             scripts_ ? "Call torch.manual_seed with one seed in both scripts, before the model is made"
                      : "Use one --seed: the initial weights are drawn from it");
        dealt("preflight.sampler_seed", "sampler_seed", "A10",
              scripts_ ? "Give the samplers of both scripts one seed: the order is drawn from it"
                       : "Use one --sampler-seed: the order is drawn from it");
        workload();
        same("preflight.optimizer", optimizerKeys(), "D7", "Give both runs the same optimizer arguments");
        scheduler();
        same("preflight.clipping", {"clip_norm", "clip_value"}, "",
             "Clip in both runs or in none; phase 3 changes it");
        return std::move(checks_);
    }

private:
    static const std::string& value(const std::vector<std::pair<std::string, std::string>>& keys,
                                    const std::string& key)
    {
        static const std::string none;
        const auto it = std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.first == key; });
        return it == keys.end() ? none : it->second;
    }

    GateCheck& add(const char* id, bool holds, std::string value, std::string limit)
    {
        return addCheck(checks_, id, holds, std::move(value), std::move(limit), {});
    }

    // All keys of the list must have the same value on both sides. value = DDP's, limit = the single run's.
    void same(const char* id, const std::vector<std::string>& keys, const char* cause, const char* fix)
    {
        std::string ddp, single, sentence;
        std::vector<EvidenceRow> rows;
        for (const std::string& key : keys) {
            const std::string &a = value(a_, key), &b = value(b_, key);
            if (a == b)
                continue;
            rows.push_back({key, fmt::format("single {}, ddp {}", a, b)});
            sentence +=
                fmt::format("{}{} is {} in DDP and {} in the single run", sentence.empty() ? "" : ", ", key,
                            b.empty() ? "empty" : b, a.empty() ? "empty" : a);
        }
        for (const std::string& key : keys) {
            const std::string &a = value(a_, key), &b = value(b_, key);
            if (a == b && !rows.empty()) // only those that differ are shown, or all if none does
                continue;
            if ((a.empty() && b.empty()) || (a == b && key == "dropout" && a == kOwnDropout))
                continue;
            ddp += (ddp.empty() ? "" : ", ") + b;
            single += (single.empty() ? "" : ", ") + a;
        }
        GateCheck& check = add(id, rows.empty(), ddp, single);
        if (rows.empty()) {
            check.sentence = "Equal in both runs.";
            return;
        }
        check.sentence = sentence + ".";
        check.cause = cause;
        check.fix = fix;
        check.evidenceJson = evidenceJson(rows);
    }

    // A setting of the sampler. What scripts were seen to train on says more than what their samplers are set to.
    void dealt(const char* id, const char* key, const char* cause, const char* fix)
    {
        same(id, {key}, cause, fix);
        if (GateCheck& check = checks_.back();
            scripts_ && samples_ && samples_->equal() && check.verdict == "fail") {
            check.verdict = "pass";
            check.cause = check.fix = "";
            check.sentence += " The samples of every step are equal all the same.";
        }
    }

    // Sharded runs do not tell the members of their parameter groups, and earlier recordings no schedule.
    bool untoldByOne(const std::string& key)
    {
        return (key == "workload_options.optimizer_members" || key == "workload_options.schedule") &&
               (value(a_, key).empty() || value(b_, key).empty());
    }

    void workload()
    {
        std::vector<std::string> keys;
        if (!scripts_)
            keys.push_back("workload");
        for (const auto* side : {&a_, &b_})
            for (const auto& [key, text] : *side)
                if (key.starts_with(kWorkloadOptions) && checkOfKey(key) == "preflight.workload" &&
                    !(scripts_ && isDealingOfScript(key)) && !untoldByOne(key) &&
                    std::find(keys.begin(), keys.end(), key) == keys.end())
                    keys.push_back(key);
        keys.push_back("dropout");
        same("preflight.workload", keys, "", "Train the same model on the same data");
        const std::string &a = value(a_, "workload_options.script"),
                          &b = value(b_, "workload_options.script");
        if (scripts_ && a != b)
            checks_.back().sentence +=
                fmt::format(" The scripts are {} and {}: a name is no difference of the training.", a, b);
    }

    std::vector<std::string> optimizerKeys() const
    {
        std::vector<std::string> keys = {"optimizer", "weight_decay"};
        if (single_.optimizer == "sgd" || ddp_.optimizer == "sgd")
            keys.push_back("momentum");
        return keys;
    }

    void batch()
    {
        const std::int64_t a = samplesPerStep(single_), b = samplesPerStep(ddp_);
        GateCheck& check = add("preflight.global_batch", a == b, grouped(b), grouped(a));
        const std::string working =
            fmt::format("{} per rank x {} ranks x {} micro-batches", ddp_.batch, ddp_.world, ddp_.accumulate);
        if (a == b) {
            check.sentence =
                fmt::format("An optimizer step uses {} samples in both runs ({}).", grouped(a), working);
            return;
        }
        check.cause = "A9";
        check.sentence =
            fmt::format("An optimizer step uses {} samples in DDP ({}) and {} in the single run{}.",
                        grouped(b), working, grouped(a),
                        ddp_.batch == single_.batch && ddp_.world > 1
                            ? ": the batch per rank was kept when the ranks became more"
                            : "");
        const std::int64_t parts = std::int64_t(ddp_.world) * ddp_.accumulate;
        check.fix =
            a % parts == 0
                ? fmt::format("Use {} {} in DDP, or compare with a single run of {} samples",
                              scripts_ ? "batch_size" : "--batch", a / parts, grouped(b))
                : fmt::format("Choose batch, world and accumulation so that their product is {}", grouped(a));
        check.evidenceJson =
            evidenceJson({{"global batch", fmt::format("single {}, ddp {}", grouped(a), grouped(b))},
                          {"batch", fmt::format("single {}, ddp {}", single_.batch, ddp_.batch)}});
    }

    void learningRate()
    {
        const bool equal = single_.lr == ddp_.lr;
        const double batches = double(samplesPerStep(ddp_)) / double(samplesPerStep(single_));
        const double rates = ddp_.lr / single_.lr;
        GateCheck& check = add("preflight.lr", equal, value(b_, "lr"), value(a_, "lr"));
        if (equal) {
            check.sentence = batches == 1
                                 ? "The same rate for the same global batch."
                                 : "The same rate; with another global batch that is a choice, not an error.";
            return;
        }
        check.cause = "D1";
        const auto near = [](double x, double y) { return std::abs(x - y) <= 1e-9 * std::abs(y); };
        if (batches == 1)
            check.sentence = fmt::format(
                "The rate of DDP is {:.6g} times the single run's although the global batch is the same{}.",
                rates,
                near(rates, ddp_.world) ? ": the linear scaling rule belongs to a larger global batch only"
                                        : "");
        else
            check.sentence = fmt::format(
                "The rate of DDP is {:.6g} times the single run's for a {:.6g} times larger global "
                "batch{}.",
                rates, batches,
                near(rates, batches)              ? " (linear scaling rule)"
                : near(rates, std::sqrt(batches)) ? " (square root rule)"
                                                  : "");
        check.fix = fmt::format("Use {} {} in both runs, and scale it later as a change of its own",
                                scripts_ ? "lr" : "--lr", value(a_, "lr"));
        check.evidenceJson =
            evidenceJson({{"lr", fmt::format("single {}, ddp {}", value(a_, "lr"), value(b_, "lr"))}});
    }

    void accumulation()
    {
        const bool equal = single_.accumulate == ddp_.accumulate;
        const bool sameBatch = samplesPerStep(single_) == samplesPerStep(ddp_);
        GateCheck& check = add("preflight.accumulate", equal || sameBatch, std::to_string(ddp_.accumulate),
                               std::to_string(single_.accumulate));
        check.sentence =
            equal       ? "The same number of micro-batches per step."
            : sameBatch ? "Another number of micro-batches for the same global batch: the sum is formed in "
                          "another order, nothing else changes."
                        : "Another number of micro-batches and another global batch.";
        if (!equal && !sameBatch) {
            check.cause = "A9";
            check.fix = "Bring the global batch to the same size first";
        }
    }

    // By what both runs recorded.
    void recordedOrder()
    {
        const SampleAgreement& s = *samples_;
        const char* what = s.byContent ? "contents" : "ids";
        GateCheck& check =
            add("preflight.sampler", s.equal(),
                fmt::format("{} of {}", grouped(s.steps - s.differing), counted(s.steps, "step", "steps")),
                "all");
        if (s.equal()) {
            check.sentence =
                fmt::format("Every step of both runs uses the same samples, by their recorded {}.", what);
            if (s.padded > 0)
                check.sentence +=
                    fmt::format(" In {} DDP repeats samples so that all ranks get equally many.",
                                counted(s.padded, "step", "steps"));
            return;
        }
        check.step = s.firstStep;
        if (samplesPerStep(single_) != samplesPerStep(ddp_)) {
            check.verdict = "cannot_judge";
            check.sentence = "Steps with different numbers of samples cannot be compared.";
            check.fix = "Bring the global batch to the same size first";
            return;
        }
        check.cause = "A10";
        check.sentence = fmt::format("{} of {} use different samples, step {} is the first.",
                                     grouped(s.differing), counted(s.steps, "step", "steps"), s.firstStep);
        check.fix =
            "Cut every rank's part out of the global batches that the single run uses, with one sampler of "
            "your own for both scripts (docs/bring-your-script.md)";
        if (!s.byContent)
            check.evidenceJson = evidenceJson(
                {{"only in the single run", joinedIds(s.onlySingle)}, {"only in DDP", joinedIds(s.onlyDdp)}});
    }

    void order()
    {
        const bool aligned = single_.order == "aligned" && single_.alignWorld == ddp_.world;
        if (samples_ && (scripts_ || (!aligned && samples_->equal()))) {
            recordedOrder();
            return;
        }
        if (scripts_ && !aligned) {
            GateCheck& check = add("preflight.sampler", false, "not recorded", "the same samples");
            check.verdict = "cannot_judge";
            check.sentence = "The runs recorded no samples, and a script's sampler says nothing by its name.";
            check.fix = "Record both scripts with a DataLoader, --record step";
            return;
        }
        const std::string a = single_.order == "aligned"
                                  ? fmt::format("aligned to {} ranks", single_.alignWorld)
                                  : std::string("DataLoader order");
        GateCheck& check =
            add("preflight.sampler", aligned, fmt::format("DistributedSampler, {} ranks", ddp_.world), a);
        if (aligned) {
            check.sentence = "The single run trains on the global batches of the ranks, in their order.";
            return;
        }
        check.cause = "A10";
        check.sentence =
            single_.order == "aligned"
                ? "The single run follows the order of another world size."
                : "The single run draws an order of its own: steps of the two runs use different samples.";
        check.fix = fmt::format("Run the baseline with --order aligned --align-world {}", ddp_.world);
    }

    void scheduler()
    {
        std::vector<std::string> keys = {"scheduler", "scheduler_period", "workload_options.scheduler"};
        if (!untoldByOne("workload_options.schedule"))
            keys.emplace_back("workload_options.schedule");
        same("preflight.scheduler", keys, "D2", "Give both runs the same scheduler arguments");
        // Without a period of its own a schedule stretches over the run, so the lengths must agree.
        GateCheck& check = checks_.back();
        if (check.verdict == "pass" && ddp_.scheduler != "none" && ddp_.schedulerPeriod == 0 &&
            (single_.steps != ddp_.steps || single_.epochs != ddp_.epochs)) {
            check.verdict = "fail";
            check.cause = "D2";
            check.sentence = "The schedule stretches over the run, and the runs have different lengths.";
            check.fix = "Give both runs the same --steps, or set --scheduler-period";
        }
    }

    const RunConfig &single_, &ddp_;
    const SampleAgreement* samples_; // nullptr: not both recorded
    const bool scripts_;
    const std::vector<std::pair<std::string, std::string>> a_, b_;
    std::vector<GateCheck> checks_;
};

} // namespace

RunConfig alignedSingle(const RunConfig& ddp)
{
    RunConfig single = ddp;
    single.mode = "single";
    single.world = 1;
    single.alignWorld = ddp.world;
    single.order = "aligned";
    single.faults.clear();
    return single;
}

std::vector<GateCheck> configChecks(const RunConfig& single, const RunConfig& ddp,
                                    const SampleAgreement* samples)
{
    return Diff(single, ddp, samples).checks();
}

} // namespace lockstep
