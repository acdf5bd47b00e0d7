// Figures of a benchmark: lines for people, or one flat JSON object with --json.
#pragma once

#include "core/config/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdlib.h>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::bench {

class Figures
{
public:
    Figures(int argc, char** argv) : json_(argc > 1 && std::strcmp(argv[1], "--json") == 0) {}

    // `key` for JSON, `text` for people; the value is shown with `unit` and held against `limit` (0: none).
    void add(const std::string& key, const std::string& text, double value, const char* unit,
             double limit = 0)
    {
        figures_.emplace_back(key, value);
        if (!json_)
            fmt::print("{:62} {:10.3f} {}{}\n", text, value, unit,
                       limit > 0 ? fmt::format("  (limit {})", limit) : "");
        std::fflush(stdout);
    }
    int print() const
    {
        if (!json_)
            return 0;
        rapidjson::StringBuffer buffer;
        JsonWriter writer(buffer);
        writer.StartObject();
        for (const auto& [key, value] : figures_) {
            writer.Key(key.data(), rapidjson::SizeType(key.size()));
            writer.Double(value);
        }
        writer.EndObject();
        std::puts(buffer.GetString());
        return 0;
    }

private:
    bool json_;
    std::vector<std::pair<std::string, double>> figures_;
};

template<typename Work>
double milliseconds(Work&& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

inline double quantile(std::vector<double> values, double q)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[std::size_t(q * double(values.size() - 1))];
}

// A folder that goes away with the program.
class ScratchFolder
{
public:
    ScratchFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "lockstep-bench-XXXXXX").string();
        path_ = ::mkdtemp(name.data()) ? name : "lockstep-bench";
    }
    ~ScratchFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

} // namespace lockstep::bench
