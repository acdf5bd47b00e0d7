// The models of gates, settings, checkpoints and workloads under QAbstractItemModelTester, built before the data arrives.
#include "core/base/quantity.h"
#include "core/config/key_pairs.h"
#include "ui/models/checkpoint_list_model.h"
#include "ui/models/checkpoint_tree_model.h"
#include "ui/models/checks_model.h"
#include "ui/models/format.h"
#include "ui/models/gates_model.h"
#include "ui/models/preflight_keys_model.h"
#include "ui/models/quantity_text.h"
#include "ui/models/roles.h"
#include "ui/models/run_config_diff_model.h"
#include "ui/models/workloads_model.h"
#include "ui/support/table_rows.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>

using namespace lockstep;
using namespace lockstep::test;

namespace {

GateInfo gate(const std::string& phase, const std::string& verdict, std::vector<GateCheck> checks = {})
{
    GateInfo info;
    info.phase = phase;
    info.verdict = verdict;
    info.checks = std::move(checks);
    info.judgedUnixMs = 1;
    return info;
}

GateCheck check(const std::string& id, const std::string& verdict)
{
    GateCheck made;
    made.id = id;
    made.verdict = verdict;
    made.value = "0 of 1,038";
    made.limit = "0";
    made.sentence = "sentence of " + id;
    return made;
}

} // namespace

class TableModelsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void laterPhasesAreClosedUntilTheGateBeforePasses()
    {
        GatesModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        ProjectSnapshot project;
        model.setSnapshot(project, true);
        QCOMPARE(column(model, GatesModel::Gate),
                 QStringList({"waiting", "closed", "closed", "closed", "closed", "draft"}));
        QCOMPARE(model.index(2, GatesModel::Deciding).data().toString(),
                 QStringLiteral("opens when gate 1 has passed or was overridden"));

        project.gates = {gate("preflight", "pass", {check("a", "pass")}),
                         gate("data", "fail", {check("b", "pass"), check("c", "fail")})};
        model.setSnapshot(project, true);
        QCOMPARE(column(model, GatesModel::Gate),
                 QStringList({"passed", "fails", "closed", "closed", "closed", "draft"}));
        QCOMPARE(model.index(1, GatesModel::Checks).data().toString(), QStringLiteral("1 of 2"));
        QCOMPARE(model.index(1, GatesModel::Deciding).data().toString(), QStringLiteral("sentence of c"));

        project.gates[1].overrideReason = "known";
        model.setSnapshot(project, true);
        QCOMPARE(model.index(1, GatesModel::Gate).data(StateRole).toInt(), int(State::Overridden));
        QCOMPARE(model.index(2, GatesModel::Gate).data().toString(), QStringLiteral("waiting"));

        model.setJudging(QStringLiteral("gradients"));
        QCOMPARE(model.index(2, GatesModel::Gate).data(StateRole).toInt(), int(State::Running));
    }

    void withoutAProjectTheRailTeaches()
    {
        GatesModel model;
        model.setSnapshot({}, false);
        QCOMPARE(model.index(1, 0).data(DetailRole).toString(), QStringLiteral("who sees which sample"));
        QVERIFY(!model.status(0).open);
    }

    void checksKeepTheirRowsWhenJudgedAgain()
    {
        ChecksModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        model.setChecks({check("a", "pass"), check("b", "fail")});
        model.setChecks({check("a", "pass"), check("b", "pass")});
        QCOMPARE(resets.size(), 1);
        QCOMPARE(column(model, ChecksModel::Verdict), QStringList({"holds", "holds"}));
        model.setChecks({});
        QCOMPARE(model.rowCount(), 0);
    }

    void onlyDifferingKeysAreListedAndGroupedByEffect()
    {
        RunConfigDiffModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        RunConfig a;
        a.alignWorld = 4;
        a.batch = 8;
        RunConfig b = a;
        b.mode = "ddp";
        b.world = 4;
        b.alignWorld = 1;
        b.lr = 0.4;
        b.threads = 2;
        model.setRuns(a, b, QStringLiteral("single-02"), QStringLiteral("ddp-w4-03"));
        QCOMPARE(model.differing(), 5);
        QCOMPARE(model.rowCount(), 3); // maths, launch, engine
        const QModelIndex maths = model.index(0, 0);
        QCOMPARE(model.rowCount(maths), 1);
        QCOMPARE(model.index(0, RunConfigDiffModel::Key, maths).data().toString(), QStringLiteral("lr"));
        QVERIFY(model.index(0, RunConfigDiffModel::Key, maths).data(TintRole).toBool());
        const QModelIndex launch = model.index(1, 0);
        QCOMPARE(model.index(0, RunConfigDiffModel::Effect, launch).data().toString(),
                 QStringLiteral("declared"));
        QVERIFY(model.markdown().contains(QStringLiteral("| lr | 0.001 | 0.4 |")));

        model.setDifferingOnly(false);
        QVERIFY(model.rowCount(model.index(0, 0)) > 10);
        model.setRuns({}, {}, {}, {});
        QCOMPARE(model.rowCount(), 0);
    }

    // The Runs page, Preflight and the chain of a comparison count the same keys.
    void thePagesCountTheSameKeys()
    {
        RunConfig a;
        a.name = "one";
        a.workload = "train";
        a.workloadOptions = {{"script", "one.py"}, {"sampler", "RandomSampler"}, {"only_a", "1"}};
        RunConfig b = a;
        b.name = "two";
        b.mode = "ddp";
        b.world = 2;
        b.workloadOptions = {{"script", "two.py"}, {"sampler", "DistributedSampler"}, {"only_b", "1"}};
        const std::vector<KeyPair> pairs = keyPairs(a, b);
        const int differing = int(
            std::count_if(pairs.begin(), pairs.end(), [](const KeyPair& pair) { return pair.differs(); }));
        QCOMPARE(differing, 6); // mode, world, script, sampler, and what only one of them has
        GateInfo gate;
        gate.phase = "preflight";
        gate.configJson = "{\"single\":" + toJson(a) + ",\"ddp\":" + toJson(b) + "}";
        PreflightKeysModel preflight;
        preflight.setGate(&gate);
        QVERIFY(preflight.error().isEmpty());
        QCOMPARE(preflight.rowCount(), differing);
        // The window knows a script's command besides; it is shown and not counted.
        a.workloadOptions["command"] = "python one.py";
        b.workloadOptions["command"] = "torchrun two.py";
        RunConfigDiffModel runs;
        QAbstractItemModelTester tester(&runs, QAbstractItemModelTester::FailureReportingMode::QtTest);
        runs.setRuns(a, b, QStringLiteral("one"), QStringLiteral("two"));
        QCOMPARE(runs.differing(), differing);
        QCOMPARE(runs.keys(), int(pairs.size()));
        QCOMPARE(runs.summary(), preflight.summary());
        // How a script deals its samples is judged by the samples, on both pages.
        QString effect;
        bool command = false;
        for (int group = 0; group < runs.rowCount(); ++group) {
            const QModelIndex parent = runs.index(group, 0);
            for (int row = 0; row < runs.rowCount(parent); ++row) {
                const QString key = runs.index(row, RunConfigDiffModel::Key, parent).data().toString();
                command = command || key == QStringLiteral("workload_options.command");
                if (key == QStringLiteral("workload_options.sampler"))
                    effect = runs.index(row, RunConfigDiffModel::Effect, parent).data().toString();
            }
        }
        for (int row = 0; row < preflight.rowCount(); ++row)
            if (preflight.index(row, PreflightKeysModel::Key).data() ==
                QStringLiteral("workload_options.sampler")) {
                QCOMPARE(preflight.index(row, PreflightKeysModel::Effect).data().toString(), effect);
                QVERIFY(preflight.index(row, PreflightKeysModel::Why)
                            .data()
                            .toString()
                            .contains(QStringLiteral("recorded samples decide")));
            }
        QVERIFY(command);
        QCOMPARE(effect, QStringLiteral("no effect"));
    }

    void anotherGlobalBatchChangesTheMaths()
    {
        RunConfigDiffModel model;
        RunConfig a;
        RunConfig b;
        b.mode = "ddp";
        b.world = 4;
        model.setRuns(a, b, {}, {});
        bool found = false;
        for (int group = 0; group < model.rowCount(); ++group) {
            const QModelIndex parent = model.index(group, 0);
            for (int row = 0; row < model.rowCount(parent); ++row)
                if (model.index(row, 0, parent).data().toString() == QStringLiteral("world")) {
                    found = true;
                    QCOMPARE(model.index(row, RunConfigDiffModel::Why, parent).data().toString(),
                             QStringLiteral("global batch 1 x 32 = 32 in A, 4 x 32 = 128 in B"));
                }
        }
        QVERIFY(found);
    }

    void checkpointKeysWithACommonPrefixShareARow()
    {
        auto tree = std::make_shared<CheckpointTree>();
        CheckpointTreeModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        tree->rows = {{"file.pt", "file.pt", "dict", "1 key", "", 4, -1, 0, {1}, false},
                      {"module.", "file.pt.module.", "prefix", "2 keys", "", 4, 0, 0, {2, 3}, false},
                      {"weight", "file.pt.module.weight", "float32", "3", "", 3, 1, 0, {}, true},
                      {"bias", "file.pt.module.bias", "float32", "1", "", 1, 1, 1, {}, true}};
        tree->roots = {0};
        model.setTree(tree);
        const QModelIndex prefix = model.index(0, 0, model.index(0, 0));
        QCOMPARE(model.rowCount(prefix), 2);
        QCOMPARE(model.index(1, CheckpointTreeModel::Elements, prefix).data().toString(),
                 QStringLiteral("1"));
        QCOMPARE(model.parent(model.index(1, 0, prefix)), prefix);
        model.setTree(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void aFileThatIsNoCheckpointIsNamedNotCrashedOn()
    {
        QTemporaryDir dir;
        const QString path = dir.filePath(QStringLiteral("x.pt"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("not a checkpoint");
        file.close();
        const CheckpointTreePtr tree = readCheckpointTree(path);
        QVERIFY(!tree->error.isEmpty() || !tree->problems.empty());
        QVERIFY(!readCheckpointTree(dir.filePath(QStringLiteral("absent.pt")))->error.isEmpty());
    }

    void checkpointsOfTheProjectComeBeforeThoseOpenedByHand()
    {
        CheckpointListModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        ProjectSnapshot project;
        project.info.folder = "/p";
        project.checkpoints = {{"runs/a/checkpoints/step_1.pt", "a", 1, 1000}, {"/else/step_2.pt", "", 2, 0}};
        model.setSnapshot(project);
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(0).data().toString(), QStringLiteral("step_1.pt")); // the order of the store
        QCOMPARE(model.index(0).data(IdRole).toString(), QStringLiteral("/p/runs/a/checkpoints/step_1.pt"));
        QCOMPARE(model.addOpened(QStringLiteral("/tmp/x.pt")), 2);
        QCOMPARE(model.addOpened(QStringLiteral("/tmp/x.pt")), 2);
        model.setSnapshot({});
        QCOMPARE(model.rowCount(), 1);
    }

    void checkpointsOfGatesAreShownOnlyWhenAskedFor()
    {
        CheckpointListModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        ProjectSnapshot project;
        project.info.folder = "/p";
        project.runs = {entry("a-01"), entry("gate-b-01")};
        project.checkpoints = {
            {"x.pt", "gate-b-01", 1, 0}, {"y.pt", "a-01", 1, 0}, {"z.pt", "gone-01", 1, 0}};
        model.setSnapshot(project);
        QCOMPARE(column(model, 0), QStringList({"a-01, step 1", "z.pt"}));
        QCOMPARE(model.auxiliary(), 1);
        model.setAuxiliaryShown(true);
        QCOMPARE(column(model, 0), QStringList({"gate-b-01, step 1", "a-01, step 1", "z.pt"}));
        model.setAuxiliaryShown(false);
        QCOMPARE(model.rowCount(), 2);
    }

    void workloadsAreListed()
    {
        WorkloadsModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(column(model, WorkloadsModel::Workload), QStringList({"toy-mlp", "digits-cnn", "char-gpt"}));
    }

    void numbersAreExactOrAligned_data()
    {
        QTest::addColumn<QString>("shown");
        QTest::addColumn<QString>("expected");
        const double third = 1.0 / 3.0;
        QTest::newRow("exact") << formatExact(third) << "0.3333333333333333";
        QTest::newRow("nan") << formatExact(std::nan("")) << "NaN";
        QTest::newRow("inf") << formatExact(-std::numeric_limits<double>::infinity()) << "-Inf";
        QTest::newRow("loss") << formatLoss(2.4) << "2.400000";
        QTest::newRow("small-loss") << formatLoss(1.25e-7) << "1.2500e-07";
        QTest::newRow("zero-delta") << formatDelta(0) << "0";
        QTest::newRow("delta") << formatDelta(-9.1439e-4) << "-9.144e-04";
        QTest::newRow("seconds") << formatDuration(9'900) << "0:09";
        QTest::newRow("hours") << formatDuration(3'723'000) << "1:02:03";
        QTest::newRow("bytes") << formatBytes(2'100'000) << "2.1 MB";
        QTest::newRow("count") << formatCount(1769472) << "1,769,472";
        QTest::newRow("shape") << formatShape({768, 2304}) << "768 x 2304";
        QTest::newRow("scalar") << formatShape({}) << "scalar";
        QTest::newRow("hash") << formatShortHash(0xb41e77c000000000) << "b41e 77c0";
        QTest::newRow("fingerprint") << formatBits(Quantity::ParamFingerprint, 255) << "00000000000000ff";
        QTest::newRow("integer") << formatBits(Quantity::Epoch, std::uint64_t(-1)) << "-1";
    }
    void numbersAreExactOrAligned()
    {
        QFETCH(QString, shown);
        QFETCH(QString, expected);
        QCOMPARE(shown, expected);
    }

    void everyQuantityTitleIsListedForTranslation()
    {
        QFile file(QStringLiteral(LOCKSTEP_SOURCE_DIR "/ui/models/quantity_text.cpp"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray source = file.readAll();
        for (const QuantityInfo& info : allQuantities())
            QVERIFY2(source.contains('"' + QByteArray(info.title.data(), qsizetype(info.title.size())) + '"'),
                     info.title.data());
    }
};

QTEST_GUILESS_MAIN(TableModelsTest)
#include "tst_table_models.moc"
