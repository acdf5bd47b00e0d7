// Records <-> frame payloads. Little-endian, lengths before variable parts, unknown trailing bytes ignored. A
// payload that ends early or names a length beyond its end is a Corrupt error; nothing is read past the end.
#pragma once

#include "core/base/records.h"
#include "core/base/status.h"
#include "core/wire/frame.h"

namespace lockstep::wire {

struct Hello {
    std::int32_t rank = 0;
    std::int32_t world = 1;
    std::int64_t pid = 0;
    std::string token; // authenticates a TCP connection; compared in constant time by the host
    std::string host;
    std::string environmentJson = "{}"; // versions, CPU capability, threads, determinism flags
    std::string configJson = "{}";      // the configuration the worker runs
};

enum class Stage : std::uint8_t { Start = 0, Data, Forward, Backward, Reduction, Optimizer, Checkpoint, End };

struct Heartbeat {
    std::int32_t rank = 0;
    std::int64_t step = 0;
    Stage stage = Stage::Start;
    std::int64_t monotonicNs = 0;
};

// How a rank ends. `secondary` marks an error that is only the echo of a peer's end ("connection reset by
// peer").
struct Goodbye {
    std::int32_t rank = 0;
    std::int64_t step = -1;
    std::int32_t exitCode = 0;
    bool secondary = false;
    std::int64_t monotonicNs = 0;
    std::string kind;     // "finished", "stopped", "error"
    std::string sentence; // for errors: what, why, what to do
};

std::string encode(const Hello&);
std::string encode(const StepRecord&);
std::string encode(const SamplesRecord&);
std::string encode(const TensorRecord&);
std::string encode(const EventRecord&);
std::string encode(const Heartbeat&);
std::string encode(const Goodbye&);

Result<Hello> decodeHello(std::string_view payload);
Result<StepRecord> decodeStep(std::string_view payload);
Result<SamplesRecord> decodeSamples(std::string_view payload);
Result<TensorRecord> decodeTensor(std::string_view payload);
Result<EventRecord> decodeEvent(std::string_view payload);
Result<Heartbeat> decodeHeartbeat(std::string_view payload);
Result<Goodbye> decodeGoodbye(std::string_view payload);

} // namespace lockstep::wire
