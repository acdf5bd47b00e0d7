// The Checkpoints page offscreen on real files: the verdict before the tree, statistics that fill in, copy and export,
// the comparison of two files, and the repaired copy with undo.
#include "core/ckpt/torch_zip_writer.h"
#include "core/ckpt/verify.h"
#include "ui/models/checkpoint_inspector.h"
#include "ui/models/checkpoint_list_model.h"
#include "ui/models/checkpoint_tree_model.h"
#include "ui/models/comparison_model.h"
#include "ui/models/fact_table_model.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/models/runs_model.h"
#include "ui/models/tensor_view.h"
#include "ui/pages/checkpoint_diff_panel.h"
#include "ui/pages/checkpoint_repair_panel.h"
#include "ui/pages/checkpoint_tensor_panel.h"
#include "ui/pages/checkpoints_page.h"
#include "ui/support/page_world.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>
#include <QUndoStack>

#include <algorithm>
#include <cmath>
#include <deque>

using namespace lockstep;
using namespace lockstep::test;

namespace {

struct World : PageWorld {
    QTemporaryDir dir;

    // {"model": {names: float32[n]}, "step": 7}
    QString write(const QString& name, const std::vector<std::pair<std::string, std::vector<float>>>& tensors)
    {
        std::deque<std::vector<float>> alive;
        SaveDict model;
        for (const auto& [key, values] : tensors) {
            alive.push_back(values);
            model.set(key, SaveTensor::dense(DType::Float32, {std::int64_t(values.size())},
                                             std::as_bytes(std::span(alive.back()))));
        }
        SaveDict root;
        root.set("model", std::move(model));
        root.set("step", 7);
        const QString path = dir.filePath(name);
        return writeTorchZip(path.toStdString(), std::move(root)).ok() ? path : QString();
    }
};

const std::vector<std::pair<std::string, std::vector<float>>> kPlain = {{"fc.weight", {3, -4}},
                                                                        {"fc.bias", {0.5f, 0, 0}}};
const std::vector<std::pair<std::string, std::vector<float>>> kWrapped = {
    {"module.fc.weight", {3, -4}}, {"module.fc.bias", {0.5f, 0, 0.25f}}};

void showPage(CheckpointsPage& page, const QString& path)
{
    page.resize(1400, 860);
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    page.open(QStringLiteral("file:") + path);
    QTRY_VERIFY(!page.busy());
}

// The row of a key, looked for in the whole tree.
QModelIndex indexOf(const QAbstractItemModel& model, const QString& key, const QModelIndex& parent = {})
{
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 0, parent);
        if (index.data().toString() == key)
            return index;
        if (const QModelIndex below = indexOf(model, key, index); below.isValid())
            return below;
    }
    return {};
}

// Null: there is no such key.
QString cell(const QAbstractItemModel& model, const QString& key, int column)
{
    const QModelIndex index = indexOf(model, key);
    return index.isValid() ? index.siblingAtColumn(column).data().toString() : QString();
}

} // namespace

class CheckpointsPageTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme::apply(*qApp, ThemeKind::Light); }

    void aWrapperPrefixIsTheVerdictWithNumberAndLimit()
    {
        World w;
        CheckpointsPage page(w.context);
        showPage(page, w.write(QStringLiteral("ddp.pt"), kWrapped));
        auto* banner = page.findChild<Banner*>();
        QTRY_COMPARE(banner->headline(),
                     QStringLiteral("All 2 keys start with \"module.\"; saved from a DDP wrapper"));
        QVERIFY(shows(page, QStringLiteral("0 of 2 names fit a model without the wrapper, limit 2.")));
        QTRY_VERIFY(shows(page, QStringLiteral("0\u00a0NaN,\u00a00\u00a0Inf")));
        QVERIFY(shows(page, QStringLiteral("opens\u00a0with\u00a0weights_only")));
        if (qEnvironmentVariableIsSet("LOCKSTEP_GRAB"))
            page.grab().save(qEnvironmentVariable("LOCKSTEP_GRAB") + QStringLiteral("/ddp.png"));
    }

    void aSoundFileSaysSoAndItsNumbersFillIn()
    {
        World w;
        CheckpointsPage page(w.context);
        showPage(page, w.write(QStringLiteral("plain.pt"), kPlain));
        QTRY_COMPARE(page.findChild<Banner*>()->headline(), QStringLiteral("No finding in plain.pt"));
        const auto* model = page.findChild<CheckpointTreeModel*>();
        QTRY_COMPARE(cell(*model, QStringLiteral("weight"), CheckpointTreeModel::Norm),
                     QStringLiteral("5.0000"));
        QCOMPARE(cell(*model, QStringLiteral("weight"), CheckpointTreeModel::Min), QStringLiteral("-4.0000"));
        QCOMPARE(cell(*model, QStringLiteral("weight"), CheckpointTreeModel::NanCount), QStringLiteral("0"));
        QCOMPARE(cell(*model, QStringLiteral("step"), CheckpointTreeModel::ValueText), QStringLiteral("7"));
        QCOMPARE(cell(*model, QStringLiteral("step"), CheckpointTreeModel::Norm), QString());
    }

    void notANumberIsAFinding()
    {
        World w;
        CheckpointsPage page(w.context);
        showPage(page, w.write(QStringLiteral("nan.pt"), {{"a", {1, NAN, NAN}}, {"b", {INFINITY}}}));
        QTRY_COMPARE(page.findChild<Banner*>()->headline(), QStringLiteral("2 NaN in 1 tensor(s), limit 0"));
        QVERIFY(shows(page, QStringLiteral("First in a.")));
    }

    void anAnswerAboutAnOlderFileIsDropped()
    {
        World w;
        const CheckpointTreePtr first = readCheckpointTree(w.write(QStringLiteral("a.pt"), kWrapped));
        const CheckpointTreePtr second = readCheckpointTree(w.write(QStringLiteral("b.pt"), kPlain));
        CheckpointInspector inspector;
        QStringList judged;
        connect(&inspector, &CheckpointInspector::verdictReady, this,
                [&judged](const CheckpointVerdictPtr& verdict) { judged << verdict->tree->path; });
        inspector.inspect(first);
        inspector.inspect(second);
        QTRY_VERIFY(!inspector.busy());
        QCOMPARE(judged, QStringList{second->path});
        // Numbers of one tree never reach the rows of another.
        CheckpointTreeModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTree(second);
        model.addNumbers(*readNumbers(first, 0, [] { return true; }));
        QCOMPARE(cell(model, QStringLiteral("weight"), CheckpointTreeModel::Norm), QString());
        model.addNumbers(*readNumbers(second, 0, [] { return true; }));
        QCOMPARE(cell(model, QStringLiteral("weight"), CheckpointTreeModel::Norm), QStringLiteral("5.0000"));
        model.setMarkedPrefix(QStringLiteral("fc."));
        model.setTree(nullptr);
    }

    void namesAreCopiedAsTheStateDictHasThem()
    {
        World w;
        CheckpointsPage page(w.context);
        showPage(page, w.write(QStringLiteral("ddp.pt"), kWrapped));
        auto* tree = page.findChild<QTreeView*>(QStringLiteral("checkpointTree"));
        tree->expandAll();
        tree->selectAll();
        QTRY_VERIFY(!tree->selectionModel()->selectedRows().isEmpty());
        tree->actions().front()->trigger();
        const QStringList copied = QGuiApplication::clipboard()->text().split(QLatin1Char('\n'));
        QVERIFY(copied.contains(QStringLiteral("module.fc.weight")));
        QVERIFY(copied.contains(QStringLiteral("step")));
    }

    void theTableIsExportedWithExactNumbers()
    {
        World w;
        const CheckpointTreePtr tree = readCheckpointTree(w.write(QStringLiteral("plain.pt"), kPlain));
        CheckpointTreeModel model;
        model.setTree(tree);
        model.addNumbers(*readNumbers(tree, 0, [] { return true; }));
        const QByteArray csv = checkpointCsv(*tree, model.numbers());
        QVERIFY2(csv.startsWith("key,dtype,shape,elements,norm,min,max,nan,inf,value\r\n"), csv.constData());
        QVERIFY2(csv.contains("fc.weight,float32,2,2,5,-4,3,0,0,\r\n"), csv.constData());
        QVERIFY2(csv.contains("step,int,,,,,,,,7\r\n"), csv.constData());
    }

    void twoFilesAreComparedAfterTheirNamesWereBroughtTogether()
    {
        World w;
        const QString a = w.write(QStringLiteral("a.pt"), kWrapped);
        const QString b = w.write(QStringLiteral("b.pt"), kPlain);
        CheckpointDiffModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const CheckpointComparisonPtr comparison = compareCheckpoints(a, b);
        QVERIFY2(comparison->mapping.contains(QStringLiteral("module")), qPrintable(comparison->mapping));
        QCOMPARE(comparison->matched, 2);
        QCOMPARE(comparison->equal, 1);
        model.setComparison(comparison);
        QCOMPARE(model.rowCount(), 1); // the bias differs in its last element, by 0.25
        QCOMPARE(model.index(0, CheckpointDiffModel::MaxAbs).data().toString(), QStringLiteral("2.5e-01"));
        QCOMPARE(model.index(0, CheckpointDiffModel::Differ).data().toString(), QStringLiteral("1 of 3"));
        model.setDifferingOnly(false);
        QCOMPARE(model.rowCount(), 2);
        QVERIFY(model.index(0, 0).data().toString().endsWith(QStringLiteral("bias"))); // largest first
        model.setComparison(nullptr);
        QVERIFY(!compareCheckpoints(a, w.dir.filePath(QStringLiteral("absent.pt")))->error.isEmpty());

        CheckpointsPage page(w.context);
        showPage(page, a);
        auto* panel = page.findChild<CheckpointDiffPanel*>();
        QVERIFY(!panel->isVisible());
        panel->compare(a, b);
        QTRY_VERIFY(
            shows(page, QStringLiteral("2 matched by name after the strip, 0 only in A, 0 only in B.")));
        QVERIFY(shows(page, QStringLiteral("1 equal in every bit, 1 differ, limit 0.")));
        QVERIFY(page.escape());
        QVERIFY(!panel->isVisible());
    }

    void theRepairIsPreviewedWrittenAndTakenBack()
    {
        World w;
        const QString cli = QStringLiteral(LOCKSTEP_BIN_DIR "/lockstep-cli");
        if (!QFileInfo(cli).isExecutable())
            QSKIP("lockstep-cli is not built: ninja -C build lockstep-cli");
        qputenv("LOCKSTEP_CLI", cli.toUtf8());
        CheckpointsPage page(w.context);
        showPage(page, w.write(QStringLiteral("ddp.pt"), kWrapped));
        QTRY_VERIFY(shows(page, QStringLiteral("0 of 2")));
        QTRY_VERIFY(shows(page, QStringLiteral("2 of 2")));
        const QString copy = w.dir.filePath(QStringLiteral("ddp.fixed.pt"));
        QVERIFY(!QFileInfo::exists(copy));
        auto* write = page.findChild<QPushButton*>(QStringLiteral("writeRepaired"));
        QTRY_VERIFY(write->isEnabled());
        if (qEnvironmentVariableIsSet("LOCKSTEP_GRAB"))
            page.grab().save(qEnvironmentVariable("LOCKSTEP_GRAB") + QStringLiteral("/repair.png"));
        QTest::mouseClick(write, Qt::LeftButton);
        QTRY_COMPARE(w.undo.count(), 1);
        const CheckpointTreePtr repaired = readCheckpointTree(copy);
        QVERIFY(judgeCheckpoint(repaired, true)->prefix.isEmpty());
        QCOMPARE(repaired->tensors, 2);
        QTRY_VERIFY(!write->isEnabled()); // nothing is overwritten
        QTRY_VERIFY(shows(page, QStringLiteral("ddp.fixed.pt is written. The original stays as it is")));
        QVERIFY(!shows(page, QStringLiteral("is there already")));
        const auto* list = page.findChild<CheckpointListModel*>();
        QVERIFY(list->rowOf(copy) >= 0);
        w.undo.undo();
        QVERIFY(!QFileInfo::exists(copy));
        QCOMPARE(list->rowOf(copy), -1); // a file that is gone is not offered
        QVERIFY(QFileInfo::exists(w.dir.filePath(QStringLiteral("ddp.pt"))));
        w.undo.redo();
        QTRY_VERIFY(QFileInfo::exists(copy));
        QTRY_VERIFY(!page.busy());
        QCOMPARE(w.undo.count(), 1);
    }

    void theRepairPanelKeepsNothingOfTheFileBefore()
    {
        World w;
        CheckpointsPage page(w.context);
        const QString sound = w.write(QStringLiteral("ddp.pt"), kWrapped);
        showPage(page, sound);
        QTRY_VERIFY(shows(page, QStringLiteral("0 of 2")));
        const QString half = w.dir.filePath(QStringLiteral("half.pt"));
        QFile whole(sound), cut(half);
        QVERIFY(whole.open(QIODevice::ReadOnly) && cut.open(QIODevice::WriteOnly));
        cut.write(whole.read(whole.size() / 2));
        cut.close();
        page.open(QStringLiteral("file:") + half);
        QTRY_VERIFY(!page.busy());
        auto* panel = page.findChild<CheckpointRepairPanel*>();
        for (const char* stale : {"0 of 2", "2 of 2", "is there already", "fc.weight"})
            QVERIFY2(!shows(*panel, QString::fromLatin1(stale)), stale);
    }

    // The file itself loads: `ckpt verify` says "warning" and ends with 0.
    void thePageAndTheCommandJudgeAPrefixAlike()
    {
        World w;
        const QString path = w.write(QStringLiteral("ddp.pt"), kWrapped);
        QCOMPARE(judgeCheckpoint(readCheckpointTree(path), true)->state, State::CannotCompare);
        const Result<VerifyReport> report = verifyCheckpoint(path.toStdString(), nullptr, {});
        QVERIFY(report.ok());
        QVERIFY(report->passed());
        QVERIFY(std::any_of(report->verdicts.begin(), report->verdicts.end(), [](const Verdict& verdict) {
            return verdict.row == "1" && verdict.severity == Severity::Warning;
        }));
    }

    void aCopyThatCannotBeWrittenSaysWhy()
    {
        World w;
        qputenv("LOCKSTEP_CLI", "/nonexistent/lockstep-cli");
        RepairWriter writer;
        QSignalSpy failed(&writer, &RepairWriter::failed);
        writer.write({QStringLiteral("ckpt")}, w.dir.filePath(QStringLiteral("x.pt")));
        QTRY_COMPARE(failed.count(), 1);
        QVERIFY(failed.front().front().toString().contains(QStringLiteral("could not be started")));
        QVERIFY(!writer.busy());
        qunsetenv("LOCKSTEP_CLI");
    }

    void theChosenTensorIsShownAsPictureAndValues()
    {
        World w;
        CheckpointsPage page(w.context);
        showPage(page, w.write(QStringLiteral("nan.pt"), {{"fc.weight", {3, -4, NAN, 0.5f}}}));
        auto* tree = page.findChild<QTreeView*>(QStringLiteral("checkpointTree"));
        tree->expandAll();
        auto* panel = page.findChild<CheckpointTensorPanel*>();
        QVERIFY(!panel->isVisible());
        const QModelIndex tensor = indexOf(*tree->model(), QStringLiteral("weight"));
        QVERIFY(tensor.isValid());
        tree->setCurrentIndex(tensor);
        QTRY_VERIFY(panel->isVisible());
        QTRY_VERIFY(!page.busy());
        QVERIFY(shows(page, QStringLiteral("fc.weight")));
        const auto* slice = page.findChild<TensorSliceModel*>();
        QCOMPARE(slice->columnCount(), 4);
        if (qEnvironmentVariableIsSet("LOCKSTEP_GRAB"))
            page.grab().save(qEnvironmentVariable("LOCKSTEP_GRAB") + QStringLiteral("/tensor.png"));
        QCOMPARE(slice->index(0, 1).data().toString(), QStringLiteral("-4.0000"));
        QVERIFY(page.escape());
        QVERIFY(!panel->isVisible());
    }

    void aTensorIsReadWithoutLosingAnything()
    {
        World w;
        std::vector<float> values(1000, 0.25f);
        values[777] = 9; // one outlier
        const CheckpointTreePtr tree = readCheckpointTree(w.write(QStringLiteral("t.pt"), {{"t", values}}));
        const auto row = std::find_if(tree->rows.begin(), tree->rows.end(),
                                      [](const CheckpointRow& r) { return r.tensor; });
        const TensorViewPtr view =
            readTensorView(tree, std::size_t(row - tree->rows.begin()), [] { return true; });
        QVERIFY2(view->error.isEmpty(), qPrintable(view->error));
        QCOMPARE(view->bins.front(), std::int64_t(999));
        QCOMPARE(view->bins.back(), std::int64_t(1));
        QCOMPARE(*std::max_element(view->heat.begin(), view->heat.end()), 9.0); // not averaged away
        TensorSliceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setView(view);
        QCOMPARE(model.rowCount(), 1);
        model.setView(nullptr);
    }

    void resumeRecordsAndGlobalsHaveTablesOfTheirOwn()
    {
        World w;
        CheckpointsPage page(w.context);
        showPage(page, w.write(QStringLiteral("plain.pt"), kPlain));
        const auto* records = page.findChildren<FactTableModel*>().at(1);
        QTRY_VERIFY(records->rowCount() > 0);
        const FactTableModel* globals = page.findChildren<FactTableModel*>().at(2);
        QTRY_VERIFY(globals->rowCount() > 0);
        for (int i = 0; i < globals->rowCount(); ++i)
            QCOMPARE(globals->index(i, 1).data().toString(), QStringLiteral("allowed"));
        FactTableModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTable(records->table());
        model.setTable({});
    }

    void theFilterKeepsWhatItFinds()
    {
        World w;
        CheckpointsPage page(w.context);
        showPage(page, w.write(QStringLiteral("plain.pt"), kPlain));
        auto* tree = page.findChild<QTreeView*>(QStringLiteral("checkpointTree"));
        page.findChild<QLineEdit*>(QStringLiteral("keyFilter"))->setText(QStringLiteral("bias"));
        QVERIFY(!cell(*tree->model(), QStringLiteral("bias"), 0).isNull());
        QVERIFY(cell(*tree->model(), QStringLiteral("weight"), 0).isNull());
        QVERIFY(page.escape());
        QVERIFY(!cell(*tree->model(), QStringLiteral("weight"), 0).isNull());
    }
};

QTEST_MAIN(CheckpointsPageTest)
#include "tst_checkpoints_page.moc"
