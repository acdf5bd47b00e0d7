// The report tells what the project holds, in four forms that other programs can read.
#include "core/report/report.h"
#include "core/report/svg_plot.h"

#include "core/config/json.h"
#include "core/config/run_extras.h"
#include "core/store/run_writer.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <cmath>
#include <memory>

using namespace lockstep;

namespace {

constexpr std::int64_t kNow = 1'780'000'000'000;

GateInfo gate(const char* phase, const char* verdict, std::vector<GateCheck> checks)
{
    GateInfo info;
    info.phase = phase;
    info.verdict = verdict;
    info.judgedUnixMs = kNow - 1000;
    info.checks = std::move(checks);
    return info;
}

GateCheck check(const char* id, const char* verdict, const char* value)
{
    GateCheck c;
    c.id = id;
    c.verdict = verdict;
    c.value = value;
    c.limit = "0 <bits> & \"more\"";
    c.step = 17;
    c.rank = 2;
    c.sentence = "Rank 2 | has <other> weights.";
    c.fix = "Broadcast them & try again.";
    c.evidenceJson = R"([{"label":"epoch 1","text":"10 <20>"}])";
    return c;
}

// What is in the file must be well-formed; Qt's reader stops at the first fault.
QString xmlProblem(const std::string& xml)
{
    QXmlStreamReader reader(QByteArray::fromStdString(xml));
    while (!reader.atEnd())
        reader.readNext();
    return reader.hasError() ? reader.errorString() : QString();
}

} // namespace

class TestReport : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<ProjectStore> project_;

    MigrationReport report()
    {
        Result<MigrationReport> made = collectReport(*project_, kNow);
        if (!made)
            qFatal("%s", made.error().sentence().c_str());
        return std::move(made).value();
    }

    // A run with losses on all ranks and, if wanted, a second segment of one rank.
    void addRun(const RunConfig& config, bool degrades = false)
    {
        RunInfo info;
        info.name = config.name;
        info.configJson = toJson(config);
        info.environmentJson = R"({"torch":"2.15.0","threads":1})";
        info.startedUnixMs = kNow - 60000;
        Result<RunInfo> added = project_->addRun(info);
        QVERIFY(added.ok());
        Result<RunWriter> writer = RunWriter::create(added->folder);
        QVERIFY(writer.ok());
        const auto steps = [&](int world, std::int64_t from, std::int64_t to) {
            for (std::int64_t step = from; step <= to; ++step)
                for (int rank = 0; rank < world; ++rank)
                    QVERIFY(writer
                                ->append(StepRecord{rank,
                                                    step,
                                                    {{Quantity::Loss, 0, bitsOf(1.0 / double(step) + rank)},
                                                     {Quantity::Samples, 0, 8}}})
                                .ok());
        };
        QVERIFY(writer->beginSegment(1, config.world, "start").ok());
        steps(config.world, 1, 10);
        if (degrades) {
            QVERIFY(writer->beginSegment(6, 1, "degrade").ok());
            steps(1, 6, 20);
        }
        QVERIFY(writer->finish().ok());
        added->state = RunState::Finished;
        added->lastStep = degrades ? 20 : 10;
        added->lastLoss = 0.1;
        QVERIFY(project_->updateRun(*added).ok());
    }

private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        Result<ProjectStore> made = ProjectStore::create(folder_->filePath("p & q").toStdString(), "toy-mlp");
        QVERIFY(made.ok());
        project_ = std::make_unique<ProjectStore>(std::move(made).value());
    }

    void anEmptyProjectSaysThatNothingWasJudged()
    {
        const MigrationReport empty = report();
        QCOMPARE(empty.verdict, std::string("open"));
        QCOMPARE(empty.gates.size(), kGatePhases.size());
        QCOMPARE(gateWord(empty.gates.front()), "not judged");
        QVERIFY(verdictSentence(empty).starts_with("0 of 5 gates passed"));
        QCOMPARE(xmlProblem(reportAsJunit(empty)), QString());
        QVERIFY(reportAsHtml(empty).find("</html>") != std::string::npos);
    }

    void gatesOverridesAndFindingsAreTold()
    {
        QVERIFY(project_->saveGate(gate("preflight", "pass", {check("preflight.seed", "pass", "42")})).ok());
        QVERIFY(project_->saveGate(gate("data", "fail", {check("data.overlap", "fail", "3")})).ok());
        QVERIFY(project_->overrideGate("data", "padding is <wanted> | here").ok());
        FindingRow finding{"a-01", "b-01", "B6", "proven", "The gradient is doubled.", "Divide once."};
        finding.step = 41;
        QVERIFY(project_->saveFindings("a-01", "b-01", {finding}).ok());

        const MigrationReport made = report();
        QCOMPARE(made.verdict, std::string("open"));
        const std::string sentence = verdictSentence(made);
        QVERIFY2(sentence.starts_with("1 of 5 gates passed, 1 overridden"), sentence.c_str());

        const std::string html = reportAsHtml(made);
        QVERIFY(html.find("padding is &lt;wanted&gt;") != std::string::npos);
        QVERIFY(html.find("<wanted>") == std::string::npos); // nothing of the project becomes markup
        QVERIFY(html.find("10 &lt;20&gt;") != std::string::npos);
        QVERIFY(html.find("<script") == std::string::npos);
        QVERIFY(html.find("http") == html.find("http://www.w3.org") ||
                html.find("http") == std::string::npos);

        const std::string markdown = reportAsMarkdown(made);
        QVERIFY(markdown.find("padding is <wanted> \\| here") != std::string::npos);
        QVERIFY(markdown.find("B6") != std::string::npos);

        const Result<rapidjson::Document> json = parseJson(reportAsJson(made), "the report");
        QVERIFY(json.ok());
        const auto& data = json.value()["gates"][1];
        QCOMPARE(data["override"].GetString(), "padding is <wanted> | here");
        QCOMPARE(data["checks"][0]["step"].GetInt(), 17);
        QCOMPARE(data["checks"][0]["evidence"][0]["text"].GetString(), "10 <20>");
        QCOMPARE(json.value()["findings"][0]["cause"].GetString(), "B6");
    }

    void junitCountsFailuresAndSkipsWhatWasOverridden()
    {
        QVERIFY(
            project_
                ->saveGate(gate("preflight", "fail",
                                {check("preflight.seed", "fail", "1"), check("preflight.batch", "pass", "2"),
                                 check("preflight.tf32", "cannot_judge", "")}))
                .ok());
        std::string xml = reportAsJunit(report());
        QCOMPARE(xmlProblem(xml), QString());
        QVERIFY2(xml.find("name=\"preflight\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\"") !=
                     std::string::npos,
                 xml.c_str());
        QVERIFY(project_->overrideGate("preflight", "known").ok());
        xml = reportAsJunit(report());
        QVERIFY(xml.find("name=\"preflight\" tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"2\"") !=
                std::string::npos);
        QVERIFY(xml.find("overridden: known") != std::string::npos);
    }

    void theScopeIsWhatWasTrainedAndLoadedHere()
    {
        RunConfig single;
        single.name = "base";
        addRun(single);
        RunConfig ddp;
        ddp.name = "ours";
        ddp.mode = "ddp";
        ddp.world = 4;
        ddp.amp = "bf16";
        addRun(ddp, true);
        ddp.name = "drill-kill";
        ddp.world = 3;
        addRun(ddp);
        const MigrationReport made = report();
        std::string ranks, torch, loaded;
        for (const ReportScope& scope : made.scope) {
            std::string all;
            for (const std::string& value : scope.values)
                all += value + ",";
            if (scope.what == "ranks trained")
                ranks = all;
            else if (scope.what == "torch")
                torch = all;
            else if (scope.what == "checkpoints loaded")
                loaded = all;
        }
        QCOMPARE(ranks, std::string("1 process,ddp 3,ddp 4,"));
        QCOMPARE(torch, std::string("2.15.0,"));
        QVERIFY2(loaded.find("1 rank after a switch") != std::string::npos, loaded.c_str());
        QCOMPARE(made.subject, std::string("ours-01")); // not the newer drill
        QCOMPARE(made.plots.size(), std::size_t(2));
        QCOMPARE(made.plots[0].curves.size(), std::size_t(2));
        QCOMPARE(made.plots[1].marks.size(), std::size_t(2));
        QCOMPARE(made.plots[1].curves[0].x.size(), std::size_t(20)); // one curve over both segments
        QVERIFY(reportAsHtml(made).find("<polyline") != std::string::npos);
    }

    void restoreStepsNameCheckpointsThatAreThere()
    {
        RunConfig ddp;
        ddp.name = "ours";
        ddp.mode = "ddp";
        ddp.world = 2;
        addRun(ddp);
        const auto seen = [&](const char* path, std::int64_t step) {
            QVERIFY(project_->addCheckpoint({path, "ours-01", step, 4}).ok());
        };
        seen("/gone/step_00000020.pt", 20);
        QCOMPARE(report().restore.size(), std::size_t(1)); // nothing to go back to
        // The project was moved since: the file lies with its run.
        seen("/elsewhere/runs/ours-01/checkpoints/step 10.pt", 10);
        const QString folder = QString::fromStdString(project_->info().folder) + "/runs/ours-01/checkpoints";
        QVERIFY(QDir().mkpath(folder));
        QFile file(folder + "/step 10.pt");
        QVERIFY(file.open(QIODevice::WriteOnly));
        const std::vector<std::string> steps = report().restore;
        QVERIFY(steps.size() >= 4);
        const std::string quoted =
            "'" + file.fileName().toStdString() + "'"; // for a shell: the name has a blank
        QVERIFY2(steps[0].find("ckpt verify " + quoted) != std::string::npos, steps[0].c_str());
        QVERIFY2(steps[2].find("--mode single --resume " + quoted) != std::string::npos, steps[2].c_str());
    }

    void aScriptIsRestoredByItsOwnCommand()
    {
        RunConfig ddp;
        ddp.name = "two";
        ddp.mode = "ddp";
        ddp.world = 2;
        ScriptCommand command;
        command.words = {"torchrun", "--nproc-per-node", "2", "train it.py"};
        command.folder = "/scripts";
        command.world = 2;
        command.ddp = true;
        RunInfo info;
        info.name = "two";
        info.configJson = withScriptCommand(toJson(ddp), command);
        const Result<RunInfo> added = project_->addRun(info);
        QVERIFY(added.ok());
        QVERIFY(report().restore.at(0).find("torch.save") != std::string::npos);
        QFile file(folder_->filePath("last.pt"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QVERIFY(project_->addCheckpoint({file.fileName().toStdString(), added->id, 8, 4}).ok());
        std::string all;
        for (const std::string& step : report().restore)
            all += step + '\n';
        for (const char* part : {"ckpt verify ", "ckpt load-check ", "--drop-wrappers -o ", "cd /scripts && ",
                                 "-- torchrun --nproc-per-node 2 'train it.py'"})
            QVERIFY2(all.find(part) != std::string::npos, all.c_str());
        QVERIFY2(all.find("--resume") == std::string::npos, all.c_str());
    }

    void aPlotKeepsSpikesAndMarksWhatIsNotFinite()
    {
        ReportPlot plot{"a <plot>", "loss", {{"run", {}, {}}}, {}};
        for (int i = 0; i < 100'000; ++i) {
            plot.curves[0].x.push_back(i);
            plot.curves[0].y.push_back(i == 54'321 ? 100 : i == 70'000 ? std::nan("") : 1);
        }
        const std::string svg = svgPlot(plot, 860, 260);
        QCOMPARE(xmlProblem(svg), QString());
        QVERIFY(svg.find(",12.0 ") != std::string::npos); // the spike reaches the upper edge
        QCOMPARE(QByteArray::fromStdString(svg).count("<path"), 1);
        QVERIFY2(svg.size() < 200'000,
                 std::to_string(svg.size()).c_str()); // by pixel columns, not by samples
    }

    void aPlotOfLargeValuesThatHardlyDifferEnds()
    {
        const std::string svg = svgPlot({"far", "loss", {{"run", {1, 2}, {1e16, 1e16 + 2}}}, {}}, 860, 260);
        QCOMPARE(xmlProblem(svg), QString());
        QVERIFY(svg.size() < 10'000);
    }
};

QTEST_GUILESS_MAIN(TestReport)
#include "tst_report.moc"
