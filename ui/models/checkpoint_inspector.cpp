#include "ui/models/checkpoint_inspector.h"

namespace lockstep {

namespace {

// Larger files are judged by their structure first, so that the verdict is there in the first second.
constexpr std::int64_t kCheckedAtOnce = 64'000'000;

} // namespace

CheckpointInspector::CheckpointInspector(QObject* parent) : QObject(parent)
{
}

void CheckpointInspector::inspect(const CheckpointTreePtr& tree)
{
    verdictJobs_.cancel();
    numberJobs_.cancel();
    if (!tree)
        return;
    const auto answer = [this](const CheckpointVerdictPtr& verdict) {
        if (verdict)
            Q_EMIT verdictReady(verdict);
    };
    const auto judge = [tree](bool bytes) {
        return [tree, bytes](const JobToken& token) {
            return token.current() ? judgeCheckpoint(tree, bytes) : CheckpointVerdictPtr();
        };
    };
    const bool large = tree->bytes > kCheckedAtOnce;
    verdictJobs_.start(judge(!large), answer);
    if (large)
        verdictJobs_.startNext(judge(true), answer);
    bytes_ = 0;
    clock_.start();
    if (tree->checkpoint && tree->tensors > 0)
        readFrom(tree, 0);
}

void CheckpointInspector::readFrom(const CheckpointTreePtr& tree, std::size_t first)
{
    numberJobs_.startNext(
        [tree, first](const JobToken& token) {
            return readNumbers(tree, first, [&token] { return token.current(); });
        },
        [this, tree](const NumbersBatchPtr& batch) {
            bytes_ += batch->bytes;
            Q_EMIT numbersReady(batch);
            if (batch->finished)
                Q_EMIT numbersFinished(bytes_, double(clock_.elapsed()) / 1e3);
            else
                readFrom(tree, batch->next);
        });
}

} // namespace lockstep
