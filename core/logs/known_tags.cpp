#include "core/logs/known_tags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <unordered_map>

namespace lockstep {

namespace {

struct Known {
    Quantity quantity;
    std::vector<std::string_view> tags; // the most exact first; lower case, everything between words as "_"
};

const std::vector<Known>& table()
{
    static const std::vector<Known> known = {
        {Quantity::Loss,
         {"loss", "train_loss_step", "train_loss", "training_loss", "loss_train", "train_loss_total",
          "lm_loss", "loss_metrics_global_avg_loss", "global_avg_loss", "loss_step", "train_batch_loss",
          "loss_metrics_local_loss", "loss_local", "local_loss"}},
        {Quantity::GradNorm,
         {"grad_norm", "train_grad_norm", "gradient_norm", "train_gradient_norm", "global_grad_norm",
          "grad_norm_total", "total_grad_norm", "train_global_grad_norm", "optim_grad_norm"}},
        {Quantity::LearningRate,
         {"lr", "train_lr", "learning_rate", "train_learning_rate", "optim_lr", "optimizer_lr"}},
        {Quantity::EvalLoss,
         {"eval_loss", "val_loss", "validation_loss", "valid_loss", "lm_loss_validation", "validate_loss",
          "validation_metrics_loss", "loss_val", "loss_eval", "loss_validation"}},
        {Quantity::EvalAccuracy,
         {"eval_accuracy", "val_accuracy", "validation_accuracy", "eval_acc", "val_acc", "validation_acc"}},
        {Quantity::ScalerScale, {"loss_scale", "scaler_scale", "grad_scale", "train_loss_scale"}},
    };
    return known;
}

std::string plain(const std::string& tag)
{
    std::string text;
    for (const char c : tag) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            text += char(std::tolower(static_cast<unsigned char>(c)));
        else if (!text.empty() && text.back() != '_')
            text += '_';
    }
    if (text.ends_with('_'))
        text.pop_back();
    return text;
}

} // namespace

std::vector<Quantity> knownQuantities(const std::vector<std::string>& tags)
{
    std::unordered_map<std::string, std::vector<std::size_t>> byPlain;
    for (std::size_t i = 0; i < tags.size(); ++i)
        byPlain[plain(tags[i])].push_back(i);
    std::vector<Quantity> quantities(tags.size(), Quantity::Metric);
    for (const Known& known : table()) {
        for (const std::string_view tag : known.tags) {
            const auto found = byPlain.find(std::string(tag));
            if (found == byPlain.end())
                continue;
            quantities[found->second.front()] = known.quantity;
            break;
        }
    }
    return quantities;
}

bool saysWhatTheMachineDid(const std::string& tag)
{
    static constexpr std::array<std::string_view, 16> kWords = {
        "time", "runtime", "elapsed", "second", "seconds", "sec",    "ms",  "throughput",
        "tps",  "wps",     "tflops",  "tflop",  "mfu",     "memory", "gib", "duration"};
    const std::string words = "_" + plain(tag) + "_";
    return std::any_of(kWords.begin(), kWords.end(), [&words](std::string_view word) {
        return words.find("_" + std::string(word) + "_") != std::string::npos;
    });
}

} // namespace lockstep
