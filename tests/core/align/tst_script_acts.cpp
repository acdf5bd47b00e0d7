// What a script did, as events tell it: the newest word up to a step holds, and two scripts are held against each other.
#include "core/align/diagnose/script_acts.h"
#include "core/store/run_writer.h"

#include <QtTest>

#include <map>
#include <memory>

using namespace lockstep;
using namespace lockstep::align;

namespace {

struct Word {
    int rank;
    std::int64_t step;
    const char* kind;
    const char* detail;
};

// A recorded run of a script with these events and `micros` backward passes in each of 6 steps.
class Script
{
public:
    Script(int world, int micros, const std::vector<Word>& words,
           const std::map<std::string, std::string>& options = {}, bool drift = false, int samples = 0)
    {
        const std::string folder = dir_.path().toStdString() + "/run";
        Result<RunWriter> writer = RunWriter::create(folder);
        // The ranks start alike; after a step their parameters are their own where `drift` says so.
        for (std::int64_t step = 0; step <= 6; ++step)
            for (int rank = 0; rank < world; ++rank)
                (void)writer->append(
                    StepRecord{rank,
                               step,
                               {{Quantity::MicroSteps, 0, std::uint64_t(micros)},
                                {Quantity::ParamFingerprint, 0,
                                 std::uint64_t(step * 10 + (drift && step > 0 ? rank : 0))}}});
        for (int rank = 0; samples > 0 && rank < world; ++rank)
            for (std::int64_t step = 1; step <= 6; ++step)
                for (int micro = 0; micro < micros; ++micro)
                    (void)writer->append(StepRecord{
                        rank, step, {{Quantity::Samples, std::uint16_t(micro), std::uint64_t(samples)}}});
        for (const Word& word : words)
            (void)writer->append(EventRecord{word.rank, word.step, word.kind, 0, word.detail});
        (void)writer->commit();
        (void)writer->finish();
        reader_.emplace(std::move(RunReader::open(folder)).value());
        RunConfig config;
        config.mode = world > 1 ? "ddp" : "single";
        config.world = world;
        for (const auto& [key, value] : options)
            config.workloadOptions[key] = value;
        config.workloadOptions["script"] = "train.py";
        trace_.emplace(std::move(RunTrace::open(*reader_, traitsOf(config))).value());
    }
    const RunTrace& operator*() const { return *trace_; }

private:
    QTemporaryDir dir_;
    std::optional<RunReader> reader_;
    std::optional<RunTrace> trace_;
};

} // namespace

class TestScriptActs : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void theNewestWordUpToAStepHolds()
    {
        const Script script(2, 1,
                            {{0, 1, "reduction", R"({"forward":["sync"],"backward":["sync"]})"},
                             {1, 1, "reduction", R"({"forward":["no_sync"],"backward":["no_sync"]})"},
                             {0, 4, "reduction", R"({"forward":["bypassed"],"backward":["sync"]})"},
                             {0, 5, "reduction", "not JSON"}});
        QCOMPARE(reductionActs(*script, 3)->forward.front(), std::string("sync"));
        QCOMPARE(reductionActs(*script, 6)->forward.front(), std::string("bypassed"));
        QVERIFY(!reductionActs(*script, 0));
        QVERIFY(!reductionActs(*Script(2, 1, {}), 3));
    }

    void ranksThatAverageTheirParametersAreSeen()
    {
        const char *moved = R"({"moved":true,"fingerprint":"a"})",
                   *still = R"({"moved":false,"fingerprint":"b"})";
        const Script goesOn(2, 1, {{0, 1, "between", moved}, {1, 1, "between", moved}}, {}, true);
        QCOMPARE(parameterAveraging(*goesOn).first, std::int64_t(1));
        QCOMPARE(parameterAveraging(*goesOn).stopped, std::int64_t(-1));
        const Script stops(2, 1,
                           {{0, 1, "between", moved},
                            {1, 1, "between", moved},
                            {0, 2, "between", still},
                            {1, 2, "between", still}},
                           {}, true);
        QCOMPARE(parameterAveraging(*stops).stopped, std::int64_t(2));
        // The last word that is told leaves open what comes after it.
        const char* last = R"({"moved":false,"fingerprint":"b","varies":true})";
        const Script untold(2, 1,
                            {{0, 1, "between", moved},
                             {1, 1, "between", moved},
                             {0, 2, "between", last},
                             {1, 2, "between", last}},
                            {}, true);
        QCOMPARE(parameterAveraging(*untold).stopped, std::int64_t(-1));
    }

    void whatMovesParametersOtherwiseIsNoAverage()
    {
        const char* moved = R"({"moved":true,"fingerprint":"a"})";
        // Ranks that were equal: clamped weights, a follower's turn, a checkpoint that was loaded.
        const Script clamped(2, 1, {{0, 1, "between", moved}, {1, 1, "between", moved}});
        QCOMPARE(parameterAveraging(*clamped).first, std::int64_t(-1));
        // One rank's parameters sent to the others: its own do not move.
        const Script sent(3, 1, {{1, 1, "between", moved}, {2, 1, "between", moved}}, {}, true);
        QCOMPARE(parameterAveraging(*sent).first, std::int64_t(-1));
        // To places of their own.
        const Script apart(
            2, 1, {{0, 1, "between", moved}, {1, 1, "between", R"({"moved":true,"fingerprint":"c"})"}}, {},
            true);
        QCOMPARE(parameterAveraging(*apart).first, std::int64_t(-1));
    }

    void drawsBesideTorchCountWhereTheyComeInEveryStep()
    {
        const Script once(2, 1, {{0, 1, "draws", R"({"python":"1"})"}, {1, 1, "draws", R"({"python":"1"})"}});
        QVERIFY(!drawsBesideTorch(*once));
        QVERIFY(otherDraws(*once).alike);
        const Script each(1, 1,
                          {{0, 1, "draws", R"({"numpy":"1"})"},
                           {0, 2, "draws", R"({"numpy":"2"})"},
                           {0, 3, "draws", R"({"numpy":"3"})"}});
        QVERIFY(drawsBesideTorch(*each));
    }

    void factorsOfTheLossAreHeldAgainstTheReference()
    {
        const Script plain(1, 2, {});
        const Script divided(1, 2, {{0, 1, "loss_factors", R"({"factors":[[0.5],[0.5]]})"}});
        const Script twice(2, 2,
                           {{0, 1, "loss_factors", R"({"factors":[[2],[2]]})"},
                            {1, 1, "loss_factors", R"({"factors":[[2],[2]]})"}});
        const Script second(2, 2,
                            {{0, 1, "loss_factors", R"({"factors":[[],[3,0.5]]})"},
                             {1, 1, "loss_factors", R"({"factors":[[1],[3,0.5]]})"}});
        const Script undivided(2, 2, {});
        QVERIFY(!lossScaling(*plain, *undivided, 2));
        const auto whole = lossScaling(*plain, *twice, 2);
        QVERIFY(whole && whole->whole && !whole->notDivided);
        QCOMPARE(whole->factor, 2.0);
        const auto one = lossScaling(*plain, *second, 2);
        QVERIFY(one && !one->whole && !one->notDivided);
        QCOMPARE(one->factor, 1.5);
        QCOMPARE(one->micros, std::vector<std::size_t>{1});
        const auto left = lossScaling(*divided, *undivided, 2);
        QVERIFY(left && left->whole && left->notDivided);
        QCOMPARE(left->factor, 2.0);
    }

    // One process has 16 samples in a micro-batch, a rank 8.
    void factorsThatAreTheNumberOfSamplesAreMeansAndSums()
    {
        const auto script = [](int world, int samples, const std::string& factors) {
            const std::string detail = R"({"factors":[)" + factors + "," + factors + "]}";
            std::vector<Word> words;
            for (int rank = 0; rank < world; ++rank)
                words.push_back({rank, 1, "loss_factors", detail.c_str()});
            return std::make_unique<Script>(world, 2, words, std::map<std::string, std::string>(), false,
                                            samples);
        };
        // Means of other sizes, divided by the two micro-batches in one process only.
        const auto mean = script(1, 16, "[0.5, 0.0625]");
        QVERIFY(!lossScaling(**mean, **script(2, 8, "[0.5, 0.125]"), 2));
        const auto left = lossScaling(**mean, **script(2, 8, "[0.125]"), 2);
        QVERIFY(left && left->notDivided && !left->summed);
        QCOMPARE(left->factor, 2.0);
        // Sums: half as much on a rank, which DDP's mean leaves so.
        const auto sum = lossScaling(**script(1, 16, "[16]"), **script(2, 8, "[8]"), 2);
        QVERIFY(sum && sum->summed);
        QCOMPARE(sum->factor, 0.5);
        // A half that has nothing to do with samples is no sum.
        const auto half = lossScaling(**script(1, 16, "[1]"), **script(2, 8, "[0.5]"), 2);
        QVERIFY(half && !half->summed);
    }

    // A weight of each rank's own is how unequal shares are set right: no factor on the whole.
    void weightsOfTheRanksAreNoFactor()
    {
        const Script weighted(2, 1,
                              {{0, 1, "loss_factors", R"({"factors":[[1.25]]})"},
                               {1, 1, "loss_factors", R"({"factors":[[0.75]]})"}});
        QVERIFY(!lossScaling(*Script(1, 1, {}), *weighted, 1));
    }

    // The probe tells eight changes; then only the step it told last is known.
    void whatChangesTooOftenIsNotKnown()
    {
        const Script plain(1, 1, {});
        const Script wild(2, 1,
                          {{0, 3, "loss_factors", R"({"factors":[[2]],"varies":true})"},
                           {1, 3, "loss_factors", R"({"factors":[[2]],"varies":true})"},
                           {0, 3, "reduction", R"({"forward":["sync"],"backward":["sync"],"varies":true})"}});
        QVERIFY(lossScaling(*plain, *wild, 3));
        QVERIFY(reductionActs(*wild, 3));
        QVERIFY(!lossScaling(*plain, *wild, 4));
        QVERIFY(!reductionActs(*wild, 4));
    }

    void schedulesAreKnownByHowTheyWereMadeAndHowOftenTheyStep()
    {
        const std::vector<Word> steps = {{0, 2, "schedule", R"({"calls":1})"},
                                         {0, 4, "schedule", R"({"calls":3})"},
                                         {0, 5, "schedule", R"({"calls":"many"})"}};
        const Script reference(1, 1, {}, {{"schedule", "CosineAnnealingLR(T_max=8)"}});
        const Script own(2, 1, steps, {{"schedule", "CosineAnnealingLR(T_max=4)"}});
        const auto acts = scheduleActs(*reference, *own);
        QVERIFY(acts && acts->own != acts->theirs);
        QCOMPARE(acts->calls, 3);
        QVERIFY(!scheduleActs(*reference, *Script(2, 1, steps)));
    }

    void theScaleThatWasLeftWhenClippingIsThatOfTheStep()
    {
        const Script script(1, 1,
                            {{0, 2, "clipped", R"({"scale":1024})"}, {0, 4, "clipped", R"({"scale":1})"}});
        QVERIFY(!clippedScaled(*script, 0, 1));
        QCOMPARE(clippedScaled(*script, 0, 3).value_or(0), 1024.0);
        QVERIFY(!clippedScaled(*script, 0, 4));
    }

    void aWrapperIsKnownHoweverOftenItsWaysChange()
    {
        QVERIFY(!hasWrapper(*Script(2, 1, {})));
        const Script wild(2, 1,
                          {{0, 3, "reduction", R"({"forward":["sync"],"backward":["sync"],"varies":true})"}});
        QVERIFY(hasWrapper(*wild) && !reductionActs(*wild, 5));
    }

    void copiesOfTheModelMoveOrDoNot()
    {
        QVERIFY(modelCopies(*Script(1, 1, {})).module.empty());
        const Script still(1, 1,
                           {{0, 4, "copy", R"({"module":"Ema","moved":false})"},
                            {0, 8, "copy", R"({"module":"Ema","moved":false})"}});
        QCOMPARE(modelCopies(*still).step, std::int64_t(8));
        QVERIFY(!modelCopies(*still).moved);
        QVERIFY(modelCopies(*Script(1, 1, {{0, 4, "copy", R"({"module":"Ema","moved":true})"}})).moved);
    }

    void aScriptIsKnownByItsSettings()
    {
        RunConfig config;
        QVERIFY(!isUsersScript(traitsOf(config)));
        config.workloadOptions["script"] = "train.py";
        config.workloadOptions["collectives"] = "all_gather,all_reduce";
        QVERIFY(isUsersScript(traitsOf(config)));
        QVERIFY(callsCollective(traitsOf(config), "all_gather"));
        QVERIFY(!callsCollective(traitsOf(config), "all_gather_into_tensor"));
    }
};

QTEST_GUILESS_MAIN(TestScriptActs)
#include "tst_script_acts.moc"
