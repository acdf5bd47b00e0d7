// The readers against files of known content: the shared corpus, and pickles written here.
#include "core/ckpt/integrity.h"
#include "core/ckpt/manifest.h"
#include "core/ckpt/open.h"
#include "core/ckpt/pickle_text.h"
#include "core/ckpt/sha256.h"
#include "core/ckpt/tensor_bytes.h"
#include "core/ckpt/utf8.h"
#include "core/ckpt/walk.h"
#include "core/config/json.h"

#include <QtTest>

#include <filesystem>
#include <fstream>

using namespace lockstep;

namespace {

const std::string kCorpus = LOCKSTEP_SHARED_DIR "/corpus";

std::string readAll(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A pickle of protocol 2 as a file.
Checkpoint openText(const std::string& body, const std::string& name = "x.pkl", int protocol = 2)
{
    static std::deque<std::string> kept; // the checkpoint points into the bytes
    kept.push_back(std::string("\x80") + static_cast<char>(protocol) + body + ".");
    return openCheckpointBytes(std::as_bytes(std::span(kept.back().data(), kept.back().size())), name);
}

std::vector<std::string> paths(const Checkpoint& c)
{
    std::vector<std::string> all;
    walkLeaves(c, [&](const Leaf& leaf) { all.emplace_back(leaf.path); });
    return all;
}

// The number of disagreements between the manifest's entry and ours, in the fields that describe a tensor.
QString differs(const rapidjson::Value& want, const rapidjson::Value& got)
{
    for (const char* field : {"kind", "dtype", "shape", "stride", "offset", "device", "grad", "sha256", "nan",
                              "inf", "min", "max", "layout", "conj", "neg", "q"}) {
        const bool free = std::string_view(field) == "stride" || std::string_view(field) == "offset" ||
                          std::string_view(field) == "device";
        if (!want.HasMember(field) || (free && want[field].IsNull()))
            continue;
        if (!got.HasMember(field))
            return QString("%1 is missing").arg(field);
        const auto& a = want[field];
        const auto& b = got[field];
        const bool equal = a.IsNumber() && b.IsNumber() ? a.GetDouble() == b.GetDouble() : a == b;
        if (!equal)
            return QString("%1 differs").arg(field);
    }
    if (want.HasMember("l2") && want["l2"].IsNumber()) {
        const double a = want["l2"].GetDouble();
        const double b = got.HasMember("l2") && got["l2"].IsNumber() ? got["l2"].GetDouble() : -1;
        if (std::abs(a - b) > 1e-12 * std::abs(a))
            return "l2 differs";
    }
    return {};
}

} // namespace

class TestCkptRead : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void corpusAgreesWithItsManifest();
    void keysFollowPythonsEquality();
    void cyclesAndSharedContainersAreListed();
    void textFormsOfOldProtocols();
    void weightsOnlyIsFollowed_data();
    void weightsOnlyIsFollowed();
    void offsetsNameTheFaultyOpcode();
    void flippedBitsAreFoundAndNamed();
    void tensorBytesReadsAnyRange();
    void terminalEscapesNeverReachTheScreen();
    void hashesAreSha256();
};

void TestCkptRead::corpusAgreesWithItsManifest()
{
    std::ifstream manifest(kCorpus + "/manifest.jsonl");
    if (!manifest)
        QSKIP("the shared corpus is not there; mount it beside the repository as ../shared");
    std::string line;
    int files = 0;
    int tensors = 0;
    QStringList wrong;
    while (std::getline(manifest, line)) {
        const auto json = parseJson(line, "manifest.jsonl");
        QVERIFY(json.ok());
        const auto& m = *json;
        const std::string path = m["path"].GetString();
        auto opened = openCheckpoint(kCorpus + "/" + path);
        QVERIFY2(opened.ok(), path.c_str());
        const std::string text = manifestJson(*opened, {});
        const auto answer = parseJson(text, path);
        QVERIFY2(answer.ok(), path.c_str());
        ++files;
        const auto& a = *answer;
        const std::string want = m["result"].GetString();
        if (want != a["result"].GetString())
            wrong << QString("%1: result %2").arg(path.c_str(), a["result"].GetString());
        if (want != "damaged" && std::string(m["container"].GetString()) != a["container"].GetString())
            wrong << QString("%1: container %2").arg(path.c_str(), a["container"].GetString());
        if (!m.HasMember("entries"))
            continue;
        // The record was cut after it was hashed: the bytes that are gone cannot be hashed again.
        const bool cut = path == "damaged/short_record.pt";
        std::map<std::string, const rapidjson::Value*> ours;
        for (const auto& e : a["entries"].GetArray())
            ours[{e["path"].GetString(), e["path"].GetStringLength()}] = &e;
        if (ours.size() != m["entries"].Size())
            wrong << QString("%1: %2 entries").arg(path.c_str()).arg(ours.size());
        std::map<int, int> there, back; // storage numbers are free, sharing is not
        for (const auto& e : m["entries"].GetArray()) {
            const auto found = ours.find({e["path"].GetString(), e["path"].GetStringLength()});
            if (found == ours.end()) {
                wrong << QString("%1: no entry %2").arg(path.c_str(), e["path"].GetString());
                continue;
            }
            const bool tensor = std::string_view(e["kind"].GetString()) == "tensor";
            tensors += tensor;
            const QString difference = differs(e, *found->second);
            if (!difference.isEmpty() && !cut)
                wrong << QString("%1 %2: %3").arg(path.c_str(), e["path"].GetString(), difference);
            if (tensor && e["storage"].IsInt()) {
                const int x = e["storage"].GetInt();
                const int y = (*found->second)["storage"].IsInt() ? (*found->second)["storage"].GetInt() : -1;
                if (there.try_emplace(x, y).first->second != y || back.try_emplace(y, x).first->second != x)
                    wrong << QString("%1 %2: sharing differs").arg(path.c_str(), e["path"].GetString());
            }
        }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.mid(0, 5).join('\n')));
    QVERIFY(files > 400);
    QVERIFY(tensors > 3000);
}

// Each input in a process of its own, as a user would meet it: its end, its memory and what it leaves behind are observed.
void TestCkptRead::keysFollowPythonsEquality()
{
    // {1: "a", 1.0: "b", True: "c", "1": "d"} is {1: "c", "1": "d"}; the first key and its place stay.
    const std::string one("G\x3f\xf0\0\0\0\0\0\0", 9);
    const Checkpoint c = openText(std::string("}(K\x01X\x01\0\0\0a", 10) + one +
                                  std::string("X\x01\0\0\0b\x88X\x01\0\0\0cX\x01\0\0\0"
                                              "1X\x01\0\0\0du",
                                              26));
    QVERIFY(c.problems.empty());
    QCOMPARE(c.rootValue().size(), std::size_t{2});
    QCOMPARE(c.rootValue().key(0).kind(), ValueKind::Int);
    QCOMPARE(c.rootValue().item(0).text(), std::string_view("c"));
    QCOMPARE(paths(c), (std::vector<std::string>{"/i:1", "/s:1"}));
}

void TestCkptRead::cyclesAndSharedContainersAreListed()
{
    // a list that holds itself and, twice, one dict
    const char body[] = "]q\x00(h\x00}q\x01X\x01\0\0\0xK\x07sh\x01"
                        "e";
    const Checkpoint c = openText(std::string(body, sizeof body - 1));
    QVERIFY(c.problems.empty());
    std::vector<std::string> listed;
    walkLeaves(c, [&](const Leaf& leaf) {
        listed.push_back(std::string(leaf.path) + (leaf.cycle ? " -> " + std::string(leaf.target) : ""));
    });
    QCOMPARE(listed, (std::vector<std::string>{"/l:0 -> ", "/l:1/s:x", "/l:2/s:x"}));
}

void TestCkptRead::textFormsOfOldProtocols()
{
    std::string bytes;
    QVERIFY(parseDecimal("-129", bytes));
    QCOMPARE(bytes, std::string("\x7f\xff"));
    QVERIFY(parseDecimal("0", bytes));
    QCOMPARE(bytes, std::string(1, '\0'));
    QVERIFY(!parseDecimal("12a", bytes));
    QVERIFY(!parseDecimal(std::string(4301, '9'), bytes));
    QVERIFY(unquotePython2("'a\\x41\\n\\101'", bytes));
    QCOMPARE(bytes, std::string("aA\nA"));
    QVERIFY(decodeRawUnicodeEscape("\\u00e9\xe9", bytes));
    QCOMPARE(bytes, std::string("\xc3\xa9\xc3\xa9"));
    QVERIFY(validUtf8("\xed\xa0\x80")); // a lone surrogate, as Python's surrogatepass allows
    QVERIFY(!validUtf8("\xc0\x80"));
    const Checkpoint c = openText("(I1\nL18446744073709551616L\nF1.5\nI01\nS'x'\nV\\u20ac\nl");
    QCOMPARE(c.rootValue().size(), std::size_t{6});
    QCOMPARE(c.rootValue().item(1).decimal(), std::string("18446744073709551616"));
    QCOMPARE(c.rootValue().item(2).real(), 1.5);
    QVERIFY(c.rootValue().item(3).is(ValueKind::Bool));
    QCOMPARE(c.rootValue().item(5).text(), std::string_view("\xe2\x82\xac"));
}

void TestCkptRead::weightsOnlyIsFollowed_data()
{
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("refusal");
    QTest::newRow("blocked global") << QByteArray("cargparse\nNamespace\n)\x81")
                                    << "Unsupported global: GLOBAL argparse.Namespace";
    QTest::newRow("builtins lose their module")
        << QByteArray("cbuiltins\nfrozenset\n)R") << "Unsupported global: GLOBAL frozenset";
    QTest::newRow("protocol 4 opcode")
        << QByteArray("\x95\x01\0\0\0\0\0\0\0N", 10) << "Unsupported operand 149";
    QTest::newRow("a class by itself") << QByteArray("ctorch.nn.modules.linear\nLinear\n")
                                       << "Unsupported global: GLOBAL torch.nn.modules.linear.Linear";
    QTest::newRow("DTensor") << QByteArray("ctorch.distributed.tensor\nDTensor\n")
                             << "``torch.distributed.tensor`` must be imported";
    QTest::newRow("plain pickle") << QByteArray("}") << "Invalid magic number";
}

void TestCkptRead::weightsOnlyIsFollowed()
{
    QFETCH(QByteArray, body);
    QFETCH(QString, refusal);
    const Checkpoint c = openText(body.toStdString());
    QVERIFY(!c.weightsOnly);
    QVERIFY2(QString::fromStdString(c.refusal).startsWith(refusal), c.refusal.c_str());
    QCOMPARE(c.result(), std::string_view("refused"));
}

void TestCkptRead::offsetsNameTheFaultyOpcode()
{
    const struct {
        std::string body;
        CkptFault fault;
        std::uint64_t offset;
    } cases[] = {
        {"N\xff", CkptFault::PickleOpcode, 3},       {"NNa", CkptFault::PickleType, 4},
        {"h\x07", CkptFault::PickleMemo, 2},         {"K\x01(\x86", CkptFault::PickleStack, 5},
        {"}K\x01s", CkptFault::PickleStack, 5},      {"X\xff\xff\xff\xff", CkptFault::PickleTruncated, 2},
        {"K\x01Q", CkptFault::PicklePersistentId, 4}};
    for (const auto& expected : cases) {
        const Checkpoint c = openText(expected.body);
        QVERIFY(c.fatal());
        QCOMPARE(ckptFaultName(c.fatal()->fault), ckptFaultName(expected.fault));
        QCOMPARE(c.fatal()->offset, expected.offset);
        const Error error = c.fatal()->toError();
        QVERIFY(error.why.find("byte " + std::to_string(expected.offset)) != std::string::npos);
    }
}

void TestCkptRead::flippedBitsAreFoundAndNamed()
{
    const std::string path = kCorpus + "/extra/net_sd.pt";
    std::string original = readAll(path);
    if (original.empty())
        QSKIP("the shared corpus is not there; mount it beside the repository as ../shared");
    const auto open = [](const std::string& bytes) {
        return openCheckpointBytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "x.pt");
    };
    const Checkpoint clean = open(original);
    QVERIFY(checkIntegrity(clean).problems.empty());
    QRandomGenerator random(7);
    int flips = 0;
    for (std::uint32_t s = 0; s < clean.storages.size() && flips < 300; ++s) {
        auto bytes = TensorBytes::openStorage(clean, s);
        QVERIFY(bytes.ok());
        if (bytes->byteCount() == 0)
            continue;
        const auto start = static_cast<std::size_t>(bytes->contiguous() - clean.files[0]->bytes().data());
        for (int i = 0; i < 12; ++i, ++flips) {
            std::string damaged = original;
            const std::size_t at = start + random.bounded(static_cast<quint32>(bytes->byteCount()));
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.bounded(8)));
            const Checkpoint c = open(damaged);
            const IntegrityReport report = checkIntegrity(c);
            QCOMPARE(report.problems.size(), std::size_t{1});
            QCOMPARE(report.problems[0].fault, CkptFault::ZipCrc);
            QCOMPARE(report.badStorages, std::vector<std::uint32_t>{s});
        }
    }
    QVERIFY(flips > 50);
}

void TestCkptRead::tensorBytesReadsAnyRange()
{
    if (!std::filesystem::exists(kCorpus))
        QSKIP("the shared corpus is not there; mount it beside the repository as ../shared");
    QRandomGenerator random(3);
    int read = 0;
    for (const char* name :
         {"extra/overlap_views.pt", "extra/chlast.pt", "extra/cplx.pt", "torch-1.7.1/views.pt",
          "formats/big_endian.pt", "formats/rezip_deflated.pt", "dist/fsdp2_w3", "dist/dt_2d_w4",
          "dist/hf_sharded_w3", "zero/zero3_w3_bf16", "zero/zero2_w2_f32"}) {
        auto c = openCheckpoint(kCorpus + "/" + name);
        QVERIFY2(c.ok() && c->problems.empty(), name);
        for (const TensorLeaf& leaf : listTensors(*c)) {
            auto bytes = TensorBytes::open(*c, *leaf.tensor);
            QVERIFY2(bytes.ok(), leaf.name.c_str());
            std::vector<std::byte> whole(bytes->byteCount());
            bytes->read(0, bytes->elements(), whole.data());
            std::vector<std::byte> blocks;
            bytes->forEachBlock(
                [&](std::span<const std::byte> b) {
                    blocks.insert(blocks.end(), b.begin(), b.end());
                    return true;
                },
                64);
            QVERIFY(blocks == whole);
            for (int i = 0; i < 8 && bytes->elements() > 0; ++i, ++read) {
                const std::uint64_t first = random.bounded(static_cast<quint32>(bytes->elements()));
                const std::uint64_t count =
                    random.bounded(static_cast<quint32>(bytes->elements() - first + 1));
                std::vector<std::byte> part(count * bytes->elementSize());
                bytes->read(first, count, part.data());
                QVERIFY2(
                    std::equal(part.begin(), part.end(),
                               whole.begin() + static_cast<std::ptrdiff_t>(first * bytes->elementSize())),
                    leaf.name.c_str());
            }
        }
    }
    QVERIFY(read > 200);
}

void TestCkptRead::terminalEscapesNeverReachTheScreen()
{
    QCOMPARE(printable("a\x1b[31mb"), std::string("a\\x1b[31mb"));
    QCOMPARE(printable("\xe2\x80\xae"), std::string("\\xe2\\x80\\xae")); // right-to-left override
    QCOMPARE(printable("gr\xc3\xbc\xc3\x9f"), std::string("gr\xc3\xbc\xc3\x9f"));
    QCOMPARE(printable("\xff"), std::string("\\xff"));
    QCOMPARE(displayName("/s:model/s:a%2Fb/l:3/i:-1"), std::string("model.a/b.3.-1"));
}

void TestCkptRead::hashesAreSha256()
{
    QCOMPARE(Sha256::hexOf(""),
             std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    for (const int size : {1, 55, 56, 63, 64, 65, 119, 128, 1000}) {
        const QByteArray text(size, 'q');
        Sha256 pieces;
        for (int i = 0; i < size; i += 7)
            pieces.update(
                std::string_view(text.constData() + i, static_cast<std::size_t>(std::min(7, size - i))));
        QCOMPARE(QString::fromStdString(pieces.hex()),
                 QString(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex()));
    }
}

QTEST_GUILESS_MAIN(TestCkptRead)
#include "tst_ckpt_read.moc"
