#include "core/wire/codec.h"

#include <QtTest>

#include <functional>
#include <limits>

using namespace lockstep;
using namespace lockstep::wire;

namespace {

// One record of every kind with every field away from its default.
Hello hello()
{
    return {3, 8, 123456789012, "token", "node-1", R"({"torch":"2.15.0"})", R"({"mode":"ddp"})"};
}
StepRecord step()
{
    StepRecord record{2, 1'000'000'007, {}};
    record.values = {{Quantity::Loss, 0, bitsOf(-0.0)},
                     {Quantity::GradNorm, 0, 0x7ff8'0000'dead'beefULL}, // a NaN with a payload
                     {Quantity::GradProj, 7, 0xffff'ffff'ffff'ffffULL},
                     {Quantity(60000), 9, 1}}; // a quantity of a newer worker
    return record;
}
SamplesRecord samples()
{
    return {1, 5, 2, 7, {-1, 0, std::numeric_limits<std::int64_t>::max()}, {1, 2, 3}};
}
TensorRecord tensor()
{
    return {4, 9, "net.0.weight", true, 0xf, 1.5, 2, 3.5, 4, 5.5, 6.5, 7};
}
EventRecord someEvent()
{
    return {-1, 12, "checkpoint", 42, R"({"path":"a","bytes":3})"};
}
Heartbeat heartbeat()
{
    return {6, 77, Stage::Reduction, 99};
}
Goodbye goodbye()
{
    return {5, 60, 143, true, 17, "stopped", "Stopped on request."};
}

// encode(decode(payload)) for every kind, so that one loop can try payloads on all of them; empty: refused as
// Corrupt.
struct Kind {
    const char* name;
    std::string payload;
    std::function<std::optional<std::string>(std::string_view)> again;
};

template<typename Record>
Kind kind(const char* name, const Record& record, Result<Record> (*decode)(std::string_view))
{
    return {name, encode(record), [decode](std::string_view payload) -> std::optional<std::string> {
                const Result<Record> decoded = decode(payload);
                if (decoded.ok())
                    return encode(*decoded);
                return decoded.error().kind == ErrorKind::Corrupt ? std::nullopt
                                                                  : std::optional<std::string>("?");
            }};
}

std::vector<Kind> allKinds()
{
    return {kind("hello", hello(), decodeHello),       kind("step", step(), decodeStep),
            kind("samples", samples(), decodeSamples), kind("tensor", tensor(), decodeTensor),
            kind("event", someEvent(), decodeEvent),   kind("heartbeat", heartbeat(), decodeHeartbeat),
            kind("goodbye", goodbye(), decodeGoodbye)};
}

} // namespace

class TestCodec : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyFieldComesBack()
    {
        const Result<Hello> h = decodeHello(encode(hello()));
        QVERIFY(h.ok());
        QCOMPARE(h->rank, 3);
        QCOMPARE(h->world, 8);
        QCOMPARE(h->pid, std::int64_t(123456789012));
        QCOMPARE(h->token, std::string("token"));
        QCOMPARE(h->host, std::string("node-1"));
        QCOMPARE(h->environmentJson, hello().environmentJson);
        QCOMPARE(h->configJson, hello().configJson);

        const Result<StepRecord> s = decodeStep(encode(step()));
        QVERIFY(s.ok());
        QCOMPARE(s->rank, 2);
        QCOMPARE(s->step, std::int64_t(1'000'000'007));
        QCOMPARE(s->values.size(), step().values.size());
        for (std::size_t i = 0; i < s->values.size(); ++i) {
            QVERIFY(s->values[i].quantity == step().values[i].quantity);
            QCOMPARE(s->values[i].index, step().values[i].index);
            QCOMPARE(s->values[i].bits, step().values[i].bits);
        }

        const Result<SamplesRecord> n = decodeSamples(encode(samples()));
        QVERIFY(n.ok());
        QCOMPARE(n->rank, 1);
        QCOMPARE(n->step, std::int64_t(5));
        QCOMPARE(n->micro, 2);
        QCOMPARE(n->epoch, std::int64_t(7));
        QCOMPARE(n->ids, samples().ids);
        QCOMPARE(n->hashes, samples().hashes);

        const Result<TensorRecord> t = decodeTensor(encode(tensor()));
        QVERIFY(t.ok());
        QCOMPARE(t->rank, 4);
        QCOMPARE(t->name, std::string("net.0.weight"));
        QVERIFY(t->buffer);
        QCOMPARE(t->has, 0xfu);
        QCOMPARE(t->localNorm, 1.5);
        QCOMPARE(t->localFingerprint, std::uint64_t(2));
        QCOMPARE(t->reducedNorm, 3.5);
        QCOMPARE(t->reducedFingerprint, std::uint64_t(4));
        QCOMPARE(t->updateNorm, 5.5);
        QCOMPARE(t->stateNorm, 6.5);
        QCOMPARE(t->stateFingerprint, std::uint64_t(7));

        const Result<EventRecord> e = decodeEvent(encode(someEvent()));
        QVERIFY(e.ok());
        QCOMPARE(e->rank, -1);
        QCOMPARE(e->kind, std::string("checkpoint"));
        QCOMPARE(e->monotonicNs, std::int64_t(42));
        QCOMPARE(e->detail, someEvent().detail);

        const Result<Heartbeat> b = decodeHeartbeat(encode(heartbeat()));
        QVERIFY(b.ok());
        QVERIFY(b->stage == Stage::Reduction);
        QCOMPARE(b->monotonicNs, std::int64_t(99));

        const Result<Goodbye> g = decodeGoodbye(encode(goodbye()));
        QVERIFY(g.ok());
        QCOMPARE(g->exitCode, 143);
        QVERIFY(g->secondary);
        QCOMPARE(g->kind, std::string("stopped"));
        QCOMPARE(g->sentence, std::string("Stopped on request."));
    }

    void aStepTakes12BytesPerValue() { QCOMPARE(encode(step()).size(), 4 + 8 + 4 + 4 * std::size_t(12)); }

    void payloadsCutAtAnyLengthAreRefused()
    {
        for (const Kind& kind : allKinds()) {
            QCOMPARE(kind.again(kind.payload), std::optional(kind.payload));
            for (std::size_t size = 0; size < kind.payload.size(); ++size) {
                // A heap copy of exactly this size lets the address sanitizer see any read past the end.
                const std::vector<char> cut(kind.payload.begin(),
                                            kind.payload.begin() + std::ptrdiff_t(size));
                QVERIFY2(!kind.again({cut.data(), cut.size()}), kind.name);
            }
        }
    }

    void trailingFieldsOfANewerWorkerAreIgnored()
    {
        for (const Kind& kind : allKinds())
            QCOMPARE(kind.again(kind.payload + "later fields"), std::optional(kind.payload));
    }

    void lengthsBeyondThePayloadAllocateNothing()
    {
        for (const Kind& kind : allKinds()) {
            for (std::size_t at = 0; at + 4 <= kind.payload.size(); ++at) {
                std::string evil = kind.payload;
                evil.replace(at, 4, "\xff\xff\xff\xff");
                kind.again(evil); // any answer but a crash or an allocation of 4 GB
            }
        }
        std::string evil = encode(step());
        evil.replace(12, 4, "\xff\xff\xff\xff");
        const Result<StepRecord> refused = decodeStep(evil);
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().sentence().find("byte 16") != std::string::npos);
    }

    void randomBytesAreRefusedOrHoldWhatTheyAnnounce()
    {
        std::uint64_t state = 1;
        const auto random = [&state] {
            return state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        };
        const std::vector<Kind> kinds = allKinds();
        for (int round = 0; round < 20000; ++round) {
            std::string noise(random() >> 57, '\0');
            for (char& byte : noise)
                byte = char(random() >> 56);
            for (const Kind& kind : kinds) {
                const std::optional<std::string> again = kind.again(noise);
                QVERIFY2(!again || (again->size() <= noise.size() && again != "?"), kind.name);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestCodec)
#include "tst_codec.moc"
