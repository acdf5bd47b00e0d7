#include "core/config/json.h"
#include "core/config/run_config.h"

#include <QtTest>

#include <cmath>

using namespace lockstep;

class TestRunConfig : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void jsonKeepsEveryField()
    {
        RunConfig config;
        config.name = "a \"name\" with ü";
        config.mode = "ddp";
        config.world = 4;
        config.lr = 0.1 + 0.2; // needs all 17 digits
        config.seed = 0xffff'ffff'ffff'fffeULL;
        config.samplerSeed = 7;
        config.shuffle = false;
        config.bucketMb = 1e-3;
        config.faults = {{"B6", {{"k", "2"}}}, {"A1", {}}};
        config.workloadOptions = {{"ragged", "1"}};
        const Result<RunConfig> back = runConfigFromJson(toJson(config));
        QVERIFY(back.ok());
        QVERIFY(*back == config);
    }

    void unknownFieldsAreNoError()
    {
        const Result<RunConfig> config = runConfigFromJson(R"({"world":3,"of_a_newer_version":[1,{}]})");
        QVERIFY(config.ok());
        QCOMPARE(config->world, 3);
    }

    void wrongTypesNameTheField()
    {
        const Result<RunConfig> config = runConfigFromJson(R"({"world":"three"})");
        QVERIFY(!config.ok());
        QVERIFY(config.error().sentence().find("\"world\"") != std::string::npos);
    }

    void brokenJsonNamesTheByte()
    {
        for (const char* text : {"", "{", "[]", R"({"world":})"})
            QVERIFY2(!runConfigFromJson(text).ok(), text);
        QVERIFY(runConfigFromJson(R"({"world":})").error().sentence().find("byte 9") != std::string::npos);
    }

    void jsonNestedWithoutEndIsRefused()
    {
        const auto nested = [](std::size_t levels) {
            return parseJson(std::string(levels, '[') + std::string(levels, ']'), "test");
        };
        QVERIFY(nested(200).ok());
        for (const std::size_t levels : {201, 1'000'000})
            QVERIFY(nested(levels).error().sentence().find("nested deeper") != std::string::npos);
        // Brackets in strings are text, also behind an escaped quote.
        QVERIFY(parseJson("[\"\\\"" + std::string(500, '[') + "\"]", "test").ok());
    }

    void nanLiteralsAreReadAndWritten()
    {
        const Result<rapidjson::Document> document = parseJson(R"([NaN, Infinity, -Infinity])", "test");
        QVERIFY(document.ok());
        QVERIFY(std::isnan((*document)[0].GetDouble()));
        QVERIFY(std::isinf((*document)[1].GetDouble()));
        rapidjson::StringBuffer buffer;
        JsonWriter writer(buffer);
        writer.Double(std::nan(""));
        QCOMPARE(std::string(buffer.GetString()), std::string("NaN"));
    }

    void impossibleValuesAreRefusedWithTheOption_data()
    {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("option");
        const auto row = [](const char* json, const char* option) {
            QTest::addRow("%s", json) << QString::fromUtf8(json) << QString::fromUtf8(option);
        };
        row(R"({"mode":"dpp"})", "--mode dpp");
        row(R"({"mode":"single","world":2})", "--world 2");
        row(R"({"mode":"ddp","world":0})", "--world 0");
        row(R"({"mode":"ddp","world":1025})", "--world 1025");
        row(R"({"batch":0})", "--batch 0");
        row(R"({"lr":-1.0})", "--lr -1");
        row(R"({"lr":NaN})", "--lr nan");
        row(R"({"accumulate":0})", "--accumulate 0");
        row(R"({"optimizer":"lion"})", "--optimizer lion");
        row(R"({"backend":"nccl"})", "--backend nccl");
        row(R"({"batch":9223372036854775807})", "--batch 9223372036854775807");
        row(R"({"accumulate":2147483647})", "--accumulate 2147483647");
        row(R"({"steps":9223372036854775807})", "--steps 9223372036854775807");
        row(R"({"epochs":-1})", "--epochs -1");
        row(R"({"align_world":2147483647})", "--align-world 2147483647");
        row(R"({"threads":100000})", "--threads 100000");
        row(R"({"lr":Infinity})", "--lr inf");
        row(R"({"momentum":Infinity})", "--momentum inf");
        row(R"({"weight_decay":Infinity})", "--weight-decay inf");
        row(R"({"weight_decay":1e308})", "--weight-decay 1e+308");
        row(R"({"dropout":NaN})", "--dropout nan");
        row(R"({"dropout":-2.0})", "--dropout -2");
        row(R"({"dropout":1e20})", "--dropout 1e+20");
        row(R"({"clip_norm":NaN})", "--clip-norm nan");
        row(R"({"clip_norm":1e308})", "--clip-norm 1e+308");
        row(R"({"clip_value":Infinity})", "--clip-value inf");
        row(R"({"scaler_scale":Infinity})", "--scaler-scale inf");
        row(R"({"bucket_mb":Infinity})", "--bucket-mb inf");
        row(R"({"checkpoint_every":-1})", "--checkpoint-every -1");
        row(R"({"collective_timeout_seconds":NaN})", "--collective-timeout nan");
        row(R"({"collective_timeout_seconds":-1.0})", "--collective-timeout -1");
        row(R"({"collective_timeout_seconds":Infinity})", "--collective-timeout inf");
        row(R"({"collective_timeout_seconds":1e308})", "--collective-timeout 1e+308");
    }
    void impossibleValuesAreRefusedWithTheOption()
    {
        QFETCH(QString, json);
        QFETCH(QString, option);
        const Status status = validate(*runConfigFromJson(json.toStdString()));
        QVERIFY(!status.ok());
        QCOMPARE(status.error().exitCode(), 2);
        QVERIFY2(status.error().sentence().find(option.toStdString()) != std::string::npos,
                 status.error().sentence().c_str());
        QVERIFY(validate(RunConfig()).ok());
    }

    void theLargestProductOfAcceptedValuesFits()
    {
        RunConfig config;
        config.mode = "ddp";
        config.world = 1024;
        config.batch = 1'000'000;
        config.accumulate = 1'000'000;
        QVERIFY(validate(config).ok());
        QCOMPARE(samplesPerStep(config), std::int64_t(1024) * 1'000'000'000'000);
    }

    void faultsAreParsed()
    {
        const Result<FaultSpec> fault = parseFault("B6,k=2,from=x=y");
        QVERIFY(fault.ok());
        QCOMPARE(fault->id, std::string("B6"));
        QCOMPARE(fault->parameters.at("from"), std::string("x=y"));
        for (const char* text : {"", ",", "B6,", "B6,k", "B6,=2", "k=2"})
            QVERIFY2(!parseFault(text).ok(), text);
    }

    void flattenListsEveryKeyOnce()
    {
        RunConfig a, b;
        b.lr = 0.5;
        b.faults = {{"B6", {{"k", "2"}}}};
        const auto flatA = flatten(a);
        const auto flatB = flatten(b);
        QCOMPARE(flatA.size(), flatB.size());
        std::vector<std::string> differing;
        for (std::size_t i = 0; i < flatA.size(); ++i) {
            QCOMPARE(flatA[i].first, flatB[i].first);
            if (flatA[i].second != flatB[i].second)
                differing.push_back(flatB[i].first + "=" + flatB[i].second);
        }
        QCOMPARE(differing, (std::vector<std::string>{"lr=0.5", "faults=B6,k=2"}));
    }
};

QTEST_GUILESS_MAIN(TestRunConfig)
#include "tst_run_config.moc"
