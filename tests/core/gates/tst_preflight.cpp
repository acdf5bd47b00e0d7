#include "core/gates/preflight.h"

#include <QTest>

using namespace lockstep;

// A change of one key in the configuration of the single run.
using ChangeOf = void (*)(RunConfig&);
Q_DECLARE_METATYPE(ChangeOf)

namespace {

RunConfig ddpConfig()
{
    RunConfig config;
    config.mode = "ddp";
    config.world = 4;
    config.batch = 8;
    return config;
}

// What the probe reports of two scripts with a batch sampler of their own.
PreflightInput scripts()
{
    PreflightInput input;
    RunConfig& ddp = input.ddp;
    ddp.mode = "ddp";
    ddp.world = 2;
    ddp.batch = 16;
    ddp.order = "python";
    ddp.shuffle = false;
    ddp.workload = "train_ddp";
    ddp.workloadOptions = {{"script", "train_ddp.py"},
                           {"sampler", "SequentialSampler"},
                           {"batch_sampler", "Parts"},
                           {"dataset_length", "512"}};
    input.single = ddp;
    input.single.mode = "single";
    input.single.world = 1;
    input.single.batch = 32;
    input.single.workload = "train";
    input.single.workloadOptions["script"] = "train.py";
    input.single.workloadOptions["batch_sampler"] = "Whole";
    input.singleEnvironment = input.ddpEnvironment = *EnvironmentReport::fromJson(
        R"({"torch":"2.15.0","threads":1,"deterministic":false,"tf32_matmul":false,"tf32_cudnn":true})");
    input.machine.loopback = true;
    input.samples = SampleAgreement{};
    input.samples->steps = 16;
    return input;
}

PreflightInput cleanInput()
{
    PreflightInput input;
    input.ddp = ddpConfig();
    input.single = alignedSingle(input.ddp);
    const char* report =
        R"({"torch":"2.15.0","cpu_capability":"AVX2","threads":1,"deterministic":true,)"
        R"("tf32_matmul":false,"tf32_cudnn":false,"dataset_size":1000,"host":"a","cores":8})";
    input.singleEnvironment = *EnvironmentReport::fromJson(report);
    input.ddpEnvironment = input.singleEnvironment;
    input.machine.cores = 8;
    input.machine.loopback = true;
    return input;
}

GateCheck checkOf(const GateInfo& gate, const std::string& id)
{
    for (const GateCheck& check : gate.checks)
        if (check.id == id)
            return check;
    return {};
}

} // namespace

class TestPreflight : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anAlignedPairPasses();
    void oneChangedKeyFailsItsOwnCheck_data();
    void oneChangedKeyFailsItsOwnCheck();
    void namesTheClassicBatchTrap();
    void accumulationMayReplaceRanks();
    void explainsTheScalingRule();
    void aRateScaledInCodeIsD1();
    void environmentsAreHeldAgainstEachOther_data();
    void environmentsAreHeldAgainstEachOther();
    void anUnreportedTorchCannotBeJudged();
    void aGpuNeedsDeterminismAndNoTf32_data();
    void aGpuNeedsDeterminismAndNoTf32();
    void scriptsWithTheSameSamplesPass();
    void scriptsWithOtherSamplesFailByTheFirstStep();
    void scriptsWithoutSamplesCannotBeJudged();
    void optionsOfTheWorkloadAreJudged();
    void listsDifferingKeysOnly();
    void keepsBothConfigurations();
};

void TestPreflight::anAlignedPairPasses()
{
    const GateInfo gate = judgePreflight(cleanInput());
    for (const GateCheck& check : gate.checks)
        QVERIFY2(check.verdict == "pass", (check.id + ": " + check.sentence).c_str());
    QCOMPARE(gate.verdict, std::string("pass"));
    QVERIFY(gate.checks.size() >= 20);
}

void TestPreflight::oneChangedKeyFailsItsOwnCheck_data()
{
    QTest::addColumn<QString>("cause");
    QTest::addColumn<ChangeOf>("change");
    const auto row = [](const char* check, const char* cause, ChangeOf change) {
        QTest::newRow(check) << QString(cause) << change;
    };
    row("preflight.dtype", "", [](RunConfig& c) { c.amp = "bf16"; });
    row("preflight.shuffle", "A10", [](RunConfig& c) { c.shuffle = false; });
    row("preflight.drop_last", "A6", [](RunConfig& c) { c.dropLast = true; });
    row("preflight.seed", "C7", [](RunConfig& c) { c.seed = 7; });
    row("preflight.sampler_seed", "A10", [](RunConfig& c) { c.samplerSeed = 7; });
    row("preflight.workload", "", [](RunConfig& c) { c.workload = "char-gpt"; });
    row("preflight.optimizer", "D7", [](RunConfig& c) { c.weightDecay = 0.1; });
    row("preflight.scheduler", "D2", [](RunConfig& c) { c.scheduler = "cosine"; });
    row("preflight.clipping", "", [](RunConfig& c) { c.clipNorm = 1; });
    row("preflight.sampler", "A10", [](RunConfig& c) { c.alignWorld = 2, c.batch = 16; });
    row("preflight.lr", "D1", [](RunConfig& c) { c.lr /= 4; });
}

void TestPreflight::oneChangedKeyFailsItsOwnCheck()
{
    QFETCH(QString, cause);
    QFETCH(ChangeOf, change);
    PreflightInput input = cleanInput();
    change(input.single);
    const GateInfo gate = judgePreflight(input);
    QCOMPARE(gate.verdict, std::string("fail"));
    for (const GateCheck& check : gate.checks) {
        QVERIFY2((check.verdict == "fail") == (check.id == QTest::currentDataTag()), check.id.c_str());
        if (check.verdict == "fail") {
            QCOMPARE(QString::fromStdString(check.cause), cause);
            QVERIFY(!check.fix.empty() && !check.sentence.empty());
        }
    }
}

void TestPreflight::namesTheClassicBatchTrap()
{
    PreflightInput input = cleanInput();
    input.ddp.batch = 32;
    input.single = RunConfig();
    input.single.batch = 32;
    const GateCheck check = checkOf(judgePreflight(input), "preflight.global_batch");
    QCOMPARE(check.verdict, std::string("fail"));
    QCOMPARE(check.cause, std::string("A9"));
    QCOMPARE(check.value, std::string("128"));
    QCOMPARE(check.limit, std::string("32"));
    QVERIFY(check.sentence.find("the batch per rank was kept") != std::string::npos);
    QVERIFY(check.fix.find("--batch 8") != std::string::npos);
}

void TestPreflight::accumulationMayReplaceRanks()
{
    PreflightInput input = cleanInput();
    input.single.batch = 4;
    input.single.accumulate = 2;
    const GateInfo gate = judgePreflight(input);
    QCOMPARE(checkOf(gate, "preflight.global_batch").verdict, std::string("pass"));
    QCOMPARE(checkOf(gate, "preflight.accumulate").verdict, std::string("pass"));
    input.single.accumulate = 4;
    QCOMPARE(checkOf(judgePreflight(input), "preflight.accumulate").cause, std::string("A9"));
}

void TestPreflight::explainsTheScalingRule()
{
    PreflightInput input = cleanInput();
    input.ddp.lr = 0.004;
    input.single.lr = 0.001;
    QVERIFY(checkOf(judgePreflight(input), "preflight.lr")
                .sentence.find("although the global batch is the same") != std::string::npos);
    input.ddp.batch = 32; // four times the global batch
    QVERIFY(checkOf(judgePreflight(input), "preflight.lr").sentence.find("linear scaling rule") !=
            std::string::npos);
}

void TestPreflight::aRateScaledInCodeIsD1()
{
    PreflightInput input = cleanInput();
    input.singleRate = 0.001;
    input.ddpRate = 0.001;
    QCOMPARE(checkOf(judgePreflight(input), "preflight.lr_used").verdict, std::string("pass"));
    input.ddpRate = 0.004;
    const GateCheck check = checkOf(judgePreflight(input), "preflight.lr_used");
    QCOMPARE(check.cause, std::string("D1"));
    QCOMPARE(check.step, std::int64_t(1));
    QVERIFY(check.sentence.find("the number of ranks") != std::string::npos);
}

void TestPreflight::environmentsAreHeldAgainstEachOther_data()
{
    QTest::addColumn<QByteArray>("ddp");
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("cause");
    const char* base = R"({"torch":"%1","cpu_capability":"%2","threads":%3,"deterministic":%4,)"
                       R"("tf32_matmul":%5,"tf32_cudnn":%6,"dataset_size":%7})";
    const auto row = [base](const char* id, const char* cause, const QStringList& v) {
        QTest::newRow(id) << QString(base).arg(v[0], v[1], v[2], v[3], v[4], v[5], v[6]).toUtf8()
                          << QString(id) << QString(cause);
    };
    row("preflight.torch", "", {"2.14.1", "AVX2", "1", "true", "false", "false", "1000"});
    row("preflight.cpu_capability", "", {"2.15.0", "AVX512", "1", "true", "false", "false", "1000"});
    row("preflight.threads", "", {"2.15.0", "AVX2", "2", "true", "false", "false", "1000"});
    row("preflight.dataset_size", "", {"2.15.0", "AVX2", "1", "true", "false", "false", "999"});
}

void TestPreflight::environmentsAreHeldAgainstEachOther()
{
    QFETCH(QByteArray, ddp);
    QFETCH(QString, id);
    QFETCH(QString, cause);
    PreflightInput input = cleanInput();
    input.ddpEnvironment = *EnvironmentReport::fromJson(ddp.toStdString());
    const GateInfo gate = judgePreflight(input);
    for (const GateCheck& check : gate.checks)
        QVERIFY2((check.verdict == "fail") == (check.id == id.toStdString()), check.id.c_str());
    QCOMPARE(QString::fromStdString(checkOf(gate, id.toStdString()).cause), cause);
}

void TestPreflight::aGpuNeedsDeterminismAndNoTf32_data()
{
    QTest::addColumn<QByteArray>("changed");
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("cause");
    QTest::newRow("deterministic") << QByteArray("\"deterministic\":false") << "preflight.deterministic"
                                   << "E4";
    QTest::newRow("matmul") << QByteArray("\"tf32_matmul\":true") << "preflight.tf32_matmul"
                            << "E1";
    QTest::newRow("cudnn") << QByteArray("\"tf32_cudnn\":true") << "preflight.tf32_cudnn"
                           << "E1";
}

void TestPreflight::aGpuNeedsDeterminismAndNoTf32()
{
    QFETCH(QByteArray, changed);
    QFETCH(QString, id);
    QFETCH(QString, cause);
    PreflightInput input = cleanInput();
    input.machine.devices = {"/dev/nvidia0"};
    input.ddpEnvironment =
        *EnvironmentReport::fromJson("{\"torch\":\"2.15.0\",\"threads\":1," + changed.toStdString() + "}");
    input.singleEnvironment = input.ddpEnvironment;
    for (const char* device : {"cuda", "cpu"}) {
        input.ddp.device = input.single.device = device;
        const GateInfo gate = judgePreflight(input);
        const bool gpu = std::string(device) == "cuda";
        for (const GateCheck& check : gate.checks)
            QVERIFY2((check.verdict == "fail") == (gpu && check.id == id.toStdString()), check.id.c_str());
        QCOMPARE(QString::fromStdString(checkOf(gate, id.toStdString()).cause), cause); // on the CPU a note
        QVERIFY(!checkOf(gate, id.toStdString()).sentence.empty());
    }
}

void TestPreflight::scriptsWithTheSameSamplesPass()
{
    PreflightInput input = scripts();
    input.ddp.shuffle = true; // what its sampler is set to says less than what it was seen to deal
    const GateInfo gate = judgePreflight(input);
    for (const GateCheck& check : gate.checks)
        QVERIFY2(check.verdict == "pass", (check.id + ": " + check.sentence).c_str());
    QVERIFY(checkOf(gate, "preflight.workload").sentence.find("train_ddp.py") != std::string::npos);
    for (const ConfigDiffRow& row : differingKeys(input.single, input.ddp))
        if (row.key == "workload" || row.key == "workload_options.script")
            QCOMPARE(row.effect, std::string("no effect"));
    input.ddp.workloadOptions["dataset_length"] = "500";
    QCOMPARE(checkOf(judgePreflight(input), "preflight.workload").verdict, std::string("fail"));
}

void TestPreflight::scriptsWithOtherSamplesFailByTheFirstStep()
{
    PreflightInput input = scripts();
    input.samples->differing = 3;
    input.samples->firstStep = 14;
    input.samples->onlySingle = {7};
    GateCheck check = checkOf(judgePreflight(input), "preflight.sampler");
    QCOMPARE(check.verdict, std::string("fail"));
    QCOMPARE(check.cause, std::string("A10"));
    QCOMPARE(check.step, std::int64_t(14));
    QVERIFY2(check.fix.find("--") == std::string::npos, check.fix.c_str()); // no option of the engine
    input.ddp.batch = 32;
    const GateInfo larger = judgePreflight(input);
    QCOMPARE(checkOf(larger, "preflight.sampler").verdict, std::string("cannot_judge"));
    QCOMPARE(checkOf(larger, "preflight.global_batch").cause, std::string("A9"));
    QVERIFY(checkOf(larger, "preflight.global_batch").fix.find("--") == std::string::npos);
}

void TestPreflight::scriptsWithoutSamplesCannotBeJudged()
{
    PreflightInput input = scripts();
    input.samples.reset();
    const GateInfo gate = judgePreflight(input);
    QCOMPARE(checkOf(gate, "preflight.sampler").verdict, std::string("cannot_judge"));
    QCOMPARE(gate.verdict, std::string("cannot_judge"));
}

void TestPreflight::optionsOfTheWorkloadAreJudged()
{
    PreflightInput input = cleanInput();
    input.ddp.workloadOptions["ragged"] = "1";
    const GateCheck check = checkOf(judgePreflight(input), "preflight.workload");
    QCOMPARE(check.verdict, std::string("fail"));
    QVERIFY2(check.sentence.find("ragged") != std::string::npos, check.sentence.c_str());
    QCOMPARE(differingKeys(input.single, input.ddp).back().check, std::string("preflight.workload"));
}

void TestPreflight::anUnreportedTorchCannotBeJudged()
{
    PreflightInput input = cleanInput();
    input.singleEnvironment = input.ddpEnvironment = *EnvironmentReport::fromJson("{}");
    QCOMPARE(judgePreflight(input).verdict, std::string("cannot_judge"));
    QVERIFY(!EnvironmentReport::fromJson("[1]").ok());
    QVERIFY(!EnvironmentReport::fromJson("{").ok());
}

void TestPreflight::listsDifferingKeysOnly()
{
    RunConfig ddp = ddpConfig();
    RunConfig single = alignedSingle(ddp);
    ddp.lr = 0.5;
    ddp.threads = 2;
    std::map<std::string, std::string> effects;
    for (const ConfigDiffRow& row : differingKeys(single, ddp))
        effects[row.key] = row.effect;
    const std::map<std::string, std::string> expected = {{"mode", "declared"},
                                                         {"world", "declared"},
                                                         {"align_world", "declared"},
                                                         {"lr", "changes the maths"},
                                                         {"threads", "no effect"}};
    QCOMPARE(effects, expected);
}

void TestPreflight::keepsBothConfigurations()
{
    PreflightInput input = cleanInput();
    input.ddpName = "ddp-w4-01";
    const GateInfo gate = judgePreflight(input);
    const Result<JudgedConfigs> configs = judgedConfigs(gate.configJson);
    QVERIFY(configs.ok());
    QCOMPARE(configs->ddp, input.ddp);
    QCOMPARE(configs->single, input.single);
    QCOMPARE(configs->ddpName, std::string("ddp-w4-01"));
    QVERIFY(!judgedConfigs("{}").ok());
    QVERIFY(!judgedConfigs("").ok());
    const Result<JudgedConfigs> wrong = judgedConfigs(R"({"single":{"world":"two"},"ddp":{}})");
    QVERIFY(!wrong.ok());
    QVERIFY2(wrong.error().why.find("world") != std::string::npos, wrong.error().why.c_str());
}

QTEST_GUILESS_MAIN(TestPreflight)
#include "tst_preflight.moc"
