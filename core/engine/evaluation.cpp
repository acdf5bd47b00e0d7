#include "core/engine/evaluation.h"

#include "core/engine/autocast.h"
#include "core/engine/recorder.h"
#include "core/engine/replica.h"
#include "core/engine/step_measure.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

// Eval mode for as long as it lives.
class EvalMode
{
public:
    explicit EvalMode(Model& model) : model_(model) { model_.eval(); }
    ~EvalMode() { model_.train(); }
    EvalMode(const EvalMode&) = delete;
    EvalMode& operator=(const EvalMode&) = delete;

private:
    Model& model_;
};

// `counted`: how many of the batch's first samples enter the metric.
void addBatch(Replica& replica, const std::vector<std::int64_t>& ids, std::int64_t counted, EvalSums& sums)
{
    const RunConfig& config = replica.config();
    const Workload& workload = replica.workload();
    Batch batch = onDevice(workload.evaluationBatch(ids), config);
    const Autocast autocast(config.amp, batch.input.device().type());
    const at::Tensor output = replica.model().forward(batch);
    if (counted == 0)
        return;
    const std::int64_t rows = output.size(0) / std::int64_t(ids.size()); // per sample: 1, or its tokens
    const at::Tensor answers = output.slice(0, 0, counted * rows);
    if (counted < std::int64_t(ids.size()))
        batch = onDevice(workload.evaluationBatch({ids.begin(), ids.begin() + counted}), config);
    sums.loss += workload.loss(answers, batch, LossReduction::Sum).item<double>();
    sums.answers += double(batch.tokens > 0 ? batch.tokens : counted);
    sums.right += at::argmax(answers, 1).eq(batch.target).sum().item<double>();
    sums.samples += double(counted);
}

} // namespace

std::int64_t ownSamples(std::int64_t setSize, int rank, int world)
{
    return std::max<std::int64_t>(0, (setSize - rank + world - 1) / world);
}

bool evaluationDue(const Replica& replica)
{
    const std::int64_t every = replica.config().evalEvery;
    return every > 0 && replica.step() % every == 0;
}

void evaluateShare(Replica& replica, GradientExchange& exchange)
{
    const at::NoGradGuard noGrad;
    const std::int64_t started = monotonicNs();
    const BufferKeeper kept(replica.buffers());
    const EvalMode mode(replica.model());
    exchange.beforeEvaluation(replica);
    EvalFacts facts;
    facts.setSize = replica.workload().evaluationSize();
    const std::vector<std::int64_t> share =
        rankOrder({.datasetSize = facts.setSize, .world = replica.world(), .shuffle = false}, replica.rank());
    std::int64_t left = replica.trimsEvaluation() ? ownSamples(facts.setSize, replica.rank(), replica.world())
                                                  : std::int64_t(share.size());
    for (const std::vector<std::int64_t>& ids : batches(share, replica.config().batch, false)) {
        const std::int64_t counted = std::min(left, std::int64_t(ids.size()));
        addBatch(replica, ids, counted, facts.own);
        left -= counted;
    }
    facts.seconds = double(monotonicNs() - started) * 1e-9;
    replica.facts().evaluation = facts;
}

void reduceEvaluation(Replica& replica, GradientExchange& exchange)
{
    EvalFacts& facts = *replica.facts().evaluation;
    facts.all = exchange.sumEvaluation(facts.own);
}

at::Tensor evalTensor(const EvalSums& sums)
{
    return at::tensor({sums.loss, sums.answers, sums.right, sums.samples}, at::kDouble);
}

EvalSums evalSums(const at::Tensor& tensor)
{
    const auto* value = tensor.const_data_ptr<double>();
    return {value[0], value[1], value[2], value[3]};
}

void addTo(StepRecord& record, const EvalFacts& evaluation)
{
    const EvalSums& all = evaluation.all;
    addValue(record, Quantity::TimeEval, bitsOf(evaluation.seconds));
    addValue(record, Quantity::EvalLoss, bitsOf(all.loss / all.answers));
    addValue(record, Quantity::EvalAccuracy, bitsOf(all.right / all.answers));
    addValue(record, Quantity::EvalSamples, std::uint64_t(all.samples));
    addValue(record, Quantity::EvalSamplesLocal, std::uint64_t(evaluation.own.samples));
    addValue(record, Quantity::EvalSetSize, std::uint64_t(evaluation.setSize));
}

} // namespace lockstep
