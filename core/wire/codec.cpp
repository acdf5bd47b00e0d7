#include "core/wire/codec.h"

#include "core/wire/bytes.h"

#include <concepts>
#include <type_traits>

namespace lockstep::wire {

namespace {

template<typename R, typename Record>
concept Of = std::same_as<std::remove_const_t<R>, Record>;

// Each record names its fields once, in wire order; the same list writes and reads. New fields go to the end.
void fields(auto& stream, Of<Hello> auto& r)
{
    stream(r.rank, r.world, r.pid, r.token, r.host, r.environmentJson, r.configJson);
}

void fields(auto& stream, Of<StepRecord> auto& r)
{
    stream(r.rank, r.step, r.values);
}

void fields(auto& stream, Of<SamplesRecord> auto& r)
{
    stream(r.rank, r.step, r.micro, r.epoch, r.ids, r.hashes);
}

void fields(auto& stream, Of<TensorRecord> auto& r)
{
    stream(r.rank, r.step, r.name, r.buffer, r.has, r.localNorm, r.localFingerprint, r.reducedNorm,
           r.reducedFingerprint, r.updateNorm, r.stateNorm, r.stateFingerprint);
}

void fields(auto& stream, Of<EventRecord> auto& r)
{
    stream(r.rank, r.step, r.kind, r.monotonicNs, r.detail);
}

void fields(auto& stream, Of<Heartbeat> auto& r)
{
    stream(r.rank, r.step, r.stage, r.monotonicNs);
}

void fields(auto& stream, Of<Goodbye> auto& r)
{
    stream(r.rank, r.step, r.exitCode, r.secondary, r.monotonicNs, r.kind, r.sentence);
}

constexpr std::size_t kStepValueSize = 12; // u16 quantity, u16 index, u64 bits

struct Encoder {
    ByteWriter out;

    template<typename... Field>
    void operator()(const Field&... field)
    {
        (one(field), ...);
    }
    template<typename T>
    void one(const T& value)
    {
        out.put(value);
    }
    void one(Stage stage) { out.put(std::uint8_t(stage)); }
    void one(const std::vector<StepValue>& values)
    {
        out.put(std::uint32_t(values.size()));
        for (const StepValue& value : values) {
            out.put(std::uint16_t(value.quantity));
            out.put(value.index);
            out.put(value.bits);
        }
    }
};

struct Decoder {
    ByteReader in;

    template<typename... Field>
    void operator()(Field&... field)
    {
        (one(field), ...);
    }
    template<typename T>
    void one(T& value)
    {
        in.get(value);
    }
    void one(Stage& stage)
    {
        std::uint8_t byte = 0;
        in.get(byte);
        stage = Stage(byte);
    }
    void one(std::vector<StepValue>& values)
    {
        values.resize(in.length(kStepValueSize));
        for (StepValue& value : values) {
            std::uint16_t quantity = 0;
            in.get(quantity);
            value.quantity = Quantity(quantity);
            in.get(value.index);
            in.get(value.bits);
        }
    }
};

template<typename Record>
std::string encodeRecord(const Record& record, std::size_t expectedSize)
{
    Encoder encoder;
    encoder.out.reserve(expectedSize);
    fields(encoder, record);
    return encoder.out.take();
}

template<typename Record>
Result<Record> decodeRecord(std::string_view payload, const char* name)
{
    Decoder decoder{ByteReader(payload)};
    Record record;
    fields(decoder, record);
    if (decoder.in.failed())
        return Error{ErrorKind::Corrupt, std::string("A ") + name + " record is cut off",
                     "its payload of " + std::to_string(payload.size()) +
                         " bytes ends inside the field at byte " + std::to_string(decoder.in.position()),
                     "Run again; if it returns, the sender and this program are of different releases"};
    return record;
}

} // namespace

std::string encode(const Hello& record)
{
    return encodeRecord(record, 64 + record.environmentJson.size() + record.configJson.size());
}
std::string encode(const StepRecord& record)
{
    return encodeRecord(record, 16 + record.values.size() * kStepValueSize);
}
std::string encode(const SamplesRecord& record)
{
    return encodeRecord(record, 32 + 8 * (record.ids.size() + record.hashes.size()));
}
std::string encode(const TensorRecord& record)
{
    return encodeRecord(record, 96 + record.name.size());
}
std::string encode(const EventRecord& record)
{
    return encodeRecord(record, 32 + record.kind.size() + record.detail.size());
}
std::string encode(const Heartbeat& record)
{
    return encodeRecord(record, 24);
}
std::string encode(const Goodbye& record)
{
    return encodeRecord(record, 40 + record.kind.size() + record.sentence.size());
}

Result<Hello> decodeHello(std::string_view payload)
{
    return decodeRecord<Hello>(payload, "hello");
}
Result<StepRecord> decodeStep(std::string_view payload)
{
    return decodeRecord<StepRecord>(payload, "step");
}
Result<SamplesRecord> decodeSamples(std::string_view payload)
{
    return decodeRecord<SamplesRecord>(payload, "samples");
}
Result<TensorRecord> decodeTensor(std::string_view payload)
{
    return decodeRecord<TensorRecord>(payload, "tensor");
}
Result<EventRecord> decodeEvent(std::string_view payload)
{
    return decodeRecord<EventRecord>(payload, "event");
}
Result<Heartbeat> decodeHeartbeat(std::string_view payload)
{
    return decodeRecord<Heartbeat>(payload, "heartbeat");
}
Result<Goodbye> decodeGoodbye(std::string_view payload)
{
    return decodeRecord<Goodbye>(payload, "goodbye");
}

} // namespace lockstep::wire
