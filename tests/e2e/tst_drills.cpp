// Phase 4 on real processes: whatever breaks, the survivors end in time, the first cause and rank are named, nothing keeps
// running, the last checkpoint is whole; and a run that lost a rank goes on with fewer.
//
// LOCKSTEP_DRILLS=200 plays so many drills over all kinds and worlds 2 to 4, LOCKSTEP_DEGRADES=50 so many runs that lose
// ranks and get them back (two changes of world each).
#include "tests/e2e/cli_runner.h"

#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace lockstep;
using namespace lockstep::e2e;

namespace {

// What did not hold, for the message of a failed test.
std::string complaint(const rapidjson::Document& json)
{
    std::string text;
    for (const auto& drill : json["drills"].GetArray())
        for (const auto& check : drill["checks"].GetArray())
            if (std::string(check["verdict"].GetString()) != "pass")
                text += std::string(drill["run"].GetString()) + " " + check["id"].GetString() + ": " +
                        check["value"].GetString() + ", expected " + check["limit"].GetString() + "; " +
                        check["sentence"].GetString() + "\n";
    return text;
}

} // namespace

class TestDrills : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<Cli> cli_;
    QString project_;

    void verifyDrill(const QStringList& arguments) const
    {
        const CliResult result =
            cli_->run(QStringList{"drill", project_} + arguments + QStringList{"--json"});
        QVERIFY2(result.exitCode == 0 || result.exitCode == 1, result.error.constData());
        const rapidjson::Document json = result.json();
        QVERIFY2(result.exitCode == 0, complaint(json).c_str());
        QCOMPARE(json["passed"].GetInt(), json["of"].GetInt());
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (!hasRealWorker())
            QSKIP(kNoWorker);
        folder_ = std::make_unique<QTemporaryDir>();
        cli_ = std::make_unique<Cli>(realWorker());
        project_ = folder_->filePath(QStringLiteral("p"));
        QCOMPARE(cli_->run({"init", project_, "--workload", "toy-mlp"}).exitCode, 0);
    }
    void cleanup() { QVERIFY(cli_->nothingLeft()); }

    void theTimeoutComesWithItsWorking()
    {
        QCOMPARE(cli_->run({"run", project_, "--mode", "ddp", "--steps", "200", "--checkpoint-every", "50"})
                     .exitCode,
                 0);
        const CliResult result = cli_->run({"drill", project_, "advise", "--json"});
        QCOMPARE(result.exitCode, 0);
        const rapidjson::Document json = result.json();
        const double pause = json["longest_pause"].GetDouble();
        QVERIFY(json["steps"]["p50"].GetDouble() <= json["steps"]["p99"].GetDouble());
        QVERIFY(pause >= json["steps"]["max"].GetDouble());
        QVERIFY(json["restart"].GetDouble() > 0);
        QVERIFY(json["timeout"].GetDouble() >= 5 * pause);
        QVERIFY(json["timeout"].GetDouble() >= json["recovery"].GetDouble());
        QVERIFY(json["working"].Size() >= 9);
    }

    void aBrokenRankIsNamedInTime_data()
    {
        QTest::addColumn<QString>("kind");
        // The other places of a hang, the slow rank and the lost connection are part of the campaign.
        for (const char* kind : {"throw", "kill", "hang-collective", "disk"})
            QTest::newRow(kind) << kind;
    }
    void aBrokenRankIsNamedInTime()
    {
        QFETCH(QString, kind);
        verifyDrill({kind, "--world", "2", "--timeout", "2"});
    }

    void aRunThatLosesARankGoesOnAndGetsItBack()
    {
        verifyDrill({"degrade", "--world", "2", "--steps", "600"});
    }

    void campaign()
    {
        const int drills = qEnvironmentVariableIntValue("LOCKSTEP_DRILLS");
        if (drills <= 0)
            QSKIP("200 drills take ten minutes: set LOCKSTEP_DRILLS=200 to play them");
        for (int world : {2, 3, 4})
            verifyDrill(
                {"all", "--world", QString::number(world), "--count", QString::number(drills / 3 + 1)});
    }

    void degradeCampaign_data()
    {
        QTest::addColumn<QStringList>("how");
        QTest::newRow("4-1-4") << QStringList{"--world", "4", "--to-one"};
        QTest::newRow("4-2-4") << QStringList{"--world", "4"};
        QTest::newRow("2-1-2") << QStringList{"--world", "2"};
    }
    void degradeCampaign()
    {
        const int runs = qEnvironmentVariableIntValue("LOCKSTEP_DEGRADES");
        if (runs <= 0)
            QSKIP(
                "50 runs that lose and regain ranks take ten minutes: set LOCKSTEP_DEGRADES=50 to play them");
        QFETCH(QStringList, how);
        verifyDrill(QStringList{"degrade"} + how + QStringList{"--count", QString::number(runs / 3 + 1)});
    }
};

QTEST_GUILESS_MAIN(TestDrills)
#include "tst_drills.moc"
