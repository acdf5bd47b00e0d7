// A small causal transformer over the characters of the licence text: two layers, four heads, learned positions, tied
// token embedding. The loss weighs every token the same. With "ragged" the lengths of the samples differ.
#include "core/base/fingerprint.h"
#include "core/engine/embedded_data.h"
#include "core/engine/workload.h"
#include "core/engine/workloads/layers.h"

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/normalization.h>

#include <array>
#include <cmath>

namespace lockstep {

namespace {

constexpr std::int64_t kContext = 32; // tokens per sample
constexpr std::int64_t kStride = 24;  // characters from one sample to the next
// Evaluated are windows that begin halfway between two of the samples, spread over the text.
constexpr std::int64_t kEvaluation = 101;
constexpr std::int64_t kEvaluationStride = 14 * kStride;
constexpr std::int64_t kWidth = 48;
constexpr std::int64_t kHeads = 4;
constexpr std::int64_t kLayers = 2;
constexpr double kDropout = 0.1;
constexpr std::int64_t kIgnored = -100; // cross_entropy's ignore_index

class Block final : public torch::nn::Module
{
public:
    explicit Block(double dropout) : dropout_(dropout)
    {
        ln1_ = register_module("ln1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})));
        qkv_ = register_module("qkv", torch::nn::Linear(kWidth, 3 * kWidth));
        proj_ = register_module("proj", torch::nn::Linear(kWidth, kWidth));
        ln2_ = register_module("ln2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})));
        up_ = register_module("up", torch::nn::Linear(kWidth, 4 * kWidth));
        down_ = register_module("down", torch::nn::Linear(4 * kWidth, kWidth));
    }

    at::Tensor forward(at::Tensor x, const at::Tensor& mask)
    {
        x = x + drop(linear(proj_, attend(ln1_(x), mask)));
        return x + drop(linear(down_, at::gelu(linear(up_, ln2_(x)))));
    }

private:
    at::Tensor drop(const at::Tensor& x) const { return at::dropout(x, dropout_, is_training()); }

    at::Tensor attend(const at::Tensor& x, const at::Tensor& mask) const
    {
        const std::int64_t n = x.size(0);
        const auto qkv =
            linear(qkv_, x).view({n, kContext, 3, kHeads, kWidth / kHeads}).permute({2, 0, 3, 1, 4});
        at::Tensor scores = at::matmul(qkv[0], qkv[1].transpose(-2, -1)) / std::sqrt(double(kWidth / kHeads));
        scores = at::softmax(scores.masked_fill(mask, -INFINITY), -1);
        return at::matmul(drop(scores), qkv[2]).transpose(1, 2).reshape({n, kContext, kWidth});
    }

    double dropout_;
    torch::nn::LayerNorm ln1_{nullptr};
    torch::nn::LayerNorm ln2_{nullptr};
    torch::nn::Linear qkv_{nullptr};
    torch::nn::Linear proj_{nullptr};
    torch::nn::Linear up_{nullptr};
    torch::nn::Linear down_{nullptr};
};

class CharModel final : public Model
{
public:
    CharModel(std::int64_t vocabulary, double dropout, bool unusedLayer) : dropout_(dropout)
    {
        tok_ = register_module("tok", torch::nn::Embedding(vocabulary, kWidth));
        pos_ = register_module("pos", torch::nn::Embedding(kContext, kWidth));
        for (std::int64_t l = 0; l < kLayers; ++l)
            blocks_.push_back(register_module("block" + std::to_string(l), std::make_shared<Block>(dropout)));
        ln_ = register_module("ln", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})));
        if (unusedLayer)
            register_module("unused", torch::nn::Linear(3, 3));
        mask_ = at::ones({kContext, kContext}, at::kBool).triu(1);
        positions_ = at::arange(kContext, at::kLong);
    }

    at::Tensor forward(const Batch& batch) override
    {
        at::Tensor x = at::embedding(tok_->weight, batch.input) +
                       at::embedding(pos_->weight, positions_.to(batch.input.device()));
        x = at::dropout(x, dropout_, is_training());
        const at::Tensor mask = mask_.to(x.device());
        for (const auto& block : blocks_)
            x = block->forward(x, mask);
        return at::linear(ln_(x), tok_->weight).flatten(0, 1); // tied
    }

private:
    double dropout_;
    torch::nn::Embedding tok_{nullptr};
    torch::nn::Embedding pos_{nullptr};
    std::vector<std::shared_ptr<Block>> blocks_;
    torch::nn::LayerNorm ln_{nullptr};
    at::Tensor mask_;
    at::Tensor positions_;
};

class CharGpt final : public Workload
{
public:
    explicit CharGpt(const RunConfig& config)
        : dropout_(config.dropout < 0 ? kDropout : config.dropout),
          unusedLayer_(workloadFlag(config, "unused_layer")),
          ragged_(workloadFlag(config, "ragged"))
    {
        // Characters are numbered in the order of their codes.
        std::array<std::int64_t, 256> number = {};
        for (const unsigned char c : embeddedText())
            number[c] = 1;
        for (std::int64_t& n : number)
            n = n != 0 ? vocabulary_++ : 0;
        for (const unsigned char c : embeddedText())
            text_.push_back(number[c]);
    }

    std::int64_t size() const override { return (std::int64_t(text_.size()) - kContext - 1) / kStride; }

    Batch batch(std::vector<std::int64_t> ids) const override { return windows(std::move(ids), 0, kStride); }
    std::int64_t evaluationSize() const override { return kEvaluation; }
    Batch evaluationBatch(std::vector<std::int64_t> ids) const override
    {
        return windows(std::move(ids), kStride / 2, kEvaluationStride);
    }

    std::shared_ptr<Model> model() const override
    {
        return std::make_shared<CharModel>(vocabulary_, dropout_, unusedLayer_);
    }
    at::Tensor loss(const at::Tensor& output, const Batch& batch, LossReduction reduction) const override
    {
        return crossEntropy(output, batch.target, reduction == LossReduction::Sum);
    }
    std::uint64_t contentHash(std::int64_t id) const override
    {
        return fingerprint(text_.data() + id * kStride, std::size_t(length(id)) + 1, sizeof text_[0]);
    }

private:
    Batch windows(std::vector<std::int64_t> ids, std::int64_t first, std::int64_t stride) const
    {
        const auto n = std::int64_t(ids.size());
        Batch batch;
        batch.input = at::empty({n, kContext}, at::kLong);
        batch.target = at::full({n, kContext}, kIgnored, at::kLong);
        auto* input = batch.input.data_ptr<std::int64_t>();
        auto* target = batch.target.data_ptr<std::int64_t>();
        for (const std::int64_t id : ids) {
            const std::int64_t* text = text_.data() + first + id * stride;
            const std::int64_t tokens = length(id);
            std::copy(text, text + kContext, input);
            std::copy(text + 1, text + 1 + tokens, target);
            input += kContext;
            target += kContext;
            batch.tokens += tokens;
        }
        batch.target = batch.target.view({n * kContext});
        batch.ids = std::move(ids);
        return batch;
    }

    // Tokens of a sample that count: all, or between 4 and the whole context.
    std::int64_t length(std::int64_t id) const
    {
        constexpr std::int64_t kShortest = 4;
        return ragged_ ? kShortest + id * 7919 % (kContext - kShortest + 1) : kContext;
    }

    double dropout_;
    bool unusedLayer_;
    bool ragged_;
    std::int64_t vocabulary_ = 0;
    std::vector<std::int64_t> text_; // as token numbers
};

const WorkloadRegistration registration({
    {"char-gpt",
     "a two-layer causal transformer on the characters of the licence text",
     2,
     {"ragged: 1 gives the samples different lengths",
      "unused_layer: 1 adds a layer that forward never uses"}},
    [](const RunConfig& config) -> std::unique_ptr<Workload> { return std::make_unique<CharGpt>(config); },
});

} // namespace

} // namespace lockstep
