#include "core/config/script_words.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace lockstep {

namespace {

// python -m one of these starts the script that follows.
constexpr const char* kLauncherModules[] = {"torch.distributed.run", "torch.distributed.launch",
                                            "accelerate.commands.launch"};

bool isLauncher(const std::string& module)
{
    return std::any_of(std::begin(kLauncherModules), std::end(kLauncherModules),
                       [&](const char* launcher) { return module == launcher; });
}

// The value of --name=VALUE or --name VALUE among the first `count` words, with dashes or underscores; empty: not there.
std::string optionValue(const std::vector<std::string>& words, std::size_t count, const std::string& name)
{
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t equals = words[i].find('=');
        std::string word = words[i].substr(0, equals);
        std::replace(word.begin(), word.end(), '_', '-');
        if (word != name)
            continue;
        const std::string value = equals == std::string::npos ? std::string() : words[i].substr(equals + 1);
        return !value.empty() ? value : i + 1 < count ? words[i + 1] : std::string();
    }
    return {};
}

} // namespace

std::ptrdiff_t placeOfScript(const std::vector<std::string>& words)
{
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i] == "-m" || words[i] == "--module") {
            if (i + 1 >= words.size() || !isLauncher(words[i + 1]))
                return std::ptrdiff_t(i);
        } else if (words[i].ends_with(".py")) {
            return std::ptrdiff_t(i);
        }
    }
    return -1;
}

bool isModuleOption(const std::string& word)
{
    return !word.ends_with(".py");
}

std::string scriptName(const std::vector<std::string>& words)
{
    const std::ptrdiff_t place = placeOfScript(words);
    if (place < 0)
        return "script";
    std::string word = words[std::size_t(place)];
    if (isModuleOption(word)) {
        word = std::size_t(place) + 1 < words.size() ? words[std::size_t(place) + 1] : std::string();
        return word.substr(word.rfind('.') + 1);
    }
    word.erase(0, word.find_last_of('/') + 1);
    return word.substr(0, word.rfind('.'));
}

int ranksOfCommand(const std::vector<std::string>& words)
{
    constexpr int kMost = 1'000'000; // so that a product stays an int
    // What follows the script is the script's own, whatever it is called.
    const std::ptrdiff_t place = placeOfScript(words);
    const std::size_t launcher = place < 0 ? words.size() : std::size_t(place);
    int ranks = 1;
    for (const char* name : {"--nproc-per-node", "--num-processes", "--nnodes"}) {
        const std::string value = optionValue(words, launcher, name);
        if (value.empty())
            continue;
        int number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size() || number < 1 ||
            number > kMost / ranks)
            return 0;
        ranks *= number;
    }
    return ranks;
}

std::string commandLineOf(const std::vector<std::string>& words)
{
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty())
            line += ' ';
        if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word)
            line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

} // namespace lockstep
