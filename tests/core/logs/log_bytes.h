// Small logs made by hand, byte for byte as the tools write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::test {

// tfevents
std::string tfRecord(const std::string& event);
std::string tfHead(std::uint64_t length); // of a record of that many bytes
std::string tfVersion(double wallTime);   // the first record of every file
std::string tfScalar(std::int64_t step, const std::string& tag, float value);
std::string tfStart(std::int64_t step); // SessionLog START
std::string tfDouble(std::int64_t step, const std::string& tag, double value, const std::string& plugin,
                     bool shaped);
std::string tfText(std::int64_t step, const std::string& tag, const std::string& text);

// .wandb
struct WandbItem {
    std::vector<std::string> key; // more than one: nested
    std::string json;
};
std::string wandbRun(const std::string& id, const std::string& group, std::optional<int> rank,
                     std::int64_t started);
std::string wandbHistory(std::int64_t step, const std::vector<WandbItem>& items);
// Cuts the records into chunks of 32 KiB blocks.
std::string wandbFile(const std::vector<std::string>& records);

} // namespace lockstep::test
