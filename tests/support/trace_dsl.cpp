#include "support/trace_dsl.h"

#include "core/store/run_reader.h"
#include "core/store/run_writer.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace lockstep::test {

namespace {

[[noreturn]] void fail(const std::string& line, const std::string& why)
{
    std::fprintf(stderr, "trace: %s: \"%s\"\n", why.c_str(), line.c_str());
    std::abort();
}

std::uint64_t parseValue(const std::string& word, ValueType type)
{
    if (type == ValueType::F64)
        return bitsOf(std::strtod(word.c_str(), nullptr));
    return type == ValueType::I64 ? std::uint64_t(std::strtoll(word.c_str(), nullptr, 0))
                                  : std::strtoull(word.c_str(), nullptr, 0);
}

std::string valueText(std::uint64_t bits, ValueType type)
{
    char text[64];
    if (type == ValueType::F64)
        std::snprintf(text, sizeof text, "%.17g", doubleOf(bits));
    else if (type == ValueType::I64)
        std::snprintf(text, sizeof text, "%lld", static_cast<long long>(bits));
    else
        std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(bits));
    return text;
}

class TraceWriter
{
public:
    explicit TraceWriter(const std::string& folder) : writer_(std::move(RunWriter::create(folder)).value()) {}

    void line(const std::string& text, RunConfig& config)
    {
        std::istringstream words(text);
        std::string first;
        if (!(words >> first) || first.starts_with('#'))
            return;
        if (first == "mode")
            words >> config.mode;
        else if (first == "world")
            words >> config.world;
        else if (first == "align_world")
            words >> config.alignWorld;
        else if (first == "bucket_mb")
            words >> config.bucketMb;
        else if (first == "commit")
            commit();
        else
            record(std::atoi(first.c_str()), words, text);
    }

    void finish()
    {
        commit();
        check(writer_.finish(), "finish");
    }

private:
    void check(const Status& status, const std::string& line)
    {
        if (!status.ok())
            fail(line, status.error().sentence());
    }

    void record(int rank, std::istringstream& words, const std::string& line)
    {
        std::string name;
        words >> name;
        if (name == "ids" || name == "hashes")
            samples(rank, name == "ids", words);
        else if (name == "tensor")
            tensor(rank, words, line);
        else if (name == "event")
            event(rank, words, line);
        else
            values(rank, name, words, line);
    }

    void values(int rank, std::string name, std::istringstream& words, const std::string& line)
    {
        int index = 0;
        if (const auto bracket = name.find('['); bracket != std::string::npos) {
            index = std::atoi(name.c_str() + bracket + 1);
            name.resize(bracket);
        }
        const QuantityInfo* info = quantityByName(name);
        if (!info)
            fail(line, "no such quantity");
        std::int64_t step = 0, stride = 1;
        for (std::string word; words >> word;) {
            if (word[0] == '@')
                step = std::atoll(word.c_str() + 1);
            else if (word[0] == 'x')
                stride = std::atoll(word.c_str() + 1);
            else {
                if (word != "-")
                    steps_[{step, rank}].values.push_back(
                        {info->id, std::uint16_t(index), parseValue(word, info->type)});
                step += stride;
            }
        }
    }

    void samples(int rank, bool ids, std::istringstream& words)
    {
        std::int64_t step = 0;
        int micro = 0;
        char separator = 0;
        words >> step >> separator >> micro >> separator;
        SamplesRecord& record = samples_[{step, micro, rank}];
        for (long long id = 0; words >> id;) {
            if (ids)
                record.ids.push_back(id);
            else
                record.hashes.push_back(std::uint64_t(id));
        }
    }

    void tensor(int rank, std::istringstream& words, const std::string& line)
    {
        TensorRecord record;
        record.rank = rank;
        std::string what;
        double norm = 0;
        std::uint64_t fingerprint = 0;
        words >> record.step >> record.name;
        while (words >> what >> norm >> fingerprint) {
            if (what == "local")
                record.has |= TensorRecord::Local, record.localNorm = norm,
                                                   record.localFingerprint = fingerprint;
            else if (what == "reduced")
                record.has |= TensorRecord::Reduced, record.reducedNorm = norm,
                                                     record.reducedFingerprint = fingerprint;
            else if (what == "update")
                record.has |= TensorRecord::Update, record.updateNorm = norm;
            else if (what == "state" || what == "buffer")
                record.has |= TensorRecord::State, record.stateNorm = norm,
                                                   record.stateFingerprint = fingerprint;
            else
                fail(line, "no such field");
            record.buffer = what == "buffer";
        }
        if (!record.has)
            fail(line, "no field");
        check(writer_.append(record), line);
    }

    void event(int rank, std::istringstream& words, const std::string& line)
    {
        EventRecord record;
        record.rank = rank;
        words >> record.step >> record.kind >> std::ws;
        std::getline(words, record.detail);
        check(writer_.append(record), line);
    }

    void commit()
    {
        for (auto& [place, record] : steps_) {
            record.step = place.first;
            record.rank = place.second;
            check(writer_.append(record), "step " + std::to_string(place.first));
        }
        for (auto& [place, record] : samples_) {
            std::tie(record.step, record.micro, record.rank) = place;
            check(writer_.append(record), "samples of step " + std::to_string(record.step));
        }
        steps_.clear();
        samples_.clear();
        check(writer_.commit(), "commit");
    }

    RunWriter writer_;
    std::map<std::pair<std::int64_t, int>, StepRecord> steps_;
    std::map<std::tuple<std::int64_t, int, int>, SamplesRecord> samples_;
};

} // namespace

TracedRun writeTrace(const std::string& folder, const std::string& text)
{
    TracedRun run{folder, {}};
    TraceWriter writer(folder);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        writer.line(line, run.config);
    writer.finish();
    return run;
}

std::string print(const Comparison& comparison)
{
    std::string text = verdictName(comparison.verdict);
    if (!comparison.reason.empty())
        text += ": " + comparison.reason;
    else
        text += std::string(comparison.match == RankMatch::Whole ? ", whole runs, " : ", rank by rank, ") +
                toleranceName(comparison.tolerance) + ", steps " + std::to_string(comparison.firstStep) +
                " to " + std::to_string(comparison.lastStep);
    text += '\n';
    for (const QuantityResult& result : comparison.quantities) {
        const QuantityInfo& info = *quantityInfo(result.quantity);
        text += std::string(info.name) + ": " + std::to_string(result.points) + " points";
        if (result.first) {
            const FirstDifference& first = *result.first;
            text += ", differs at step " + std::to_string(first.step);
            if (first.stepB != first.step)
                text += "/" + std::to_string(first.stepB);
            if (first.rank >= 0)
                text += " rank " + std::to_string(first.rank);
            if (info.indexed)
                text += " [" + std::to_string(first.index) + "]";
            if (!first.parameter.empty())
                text += " in " + first.parameter;
            text += ": " + (first.missingA ? "missing" : valueText(first.a, info.type)) + " | " +
                    (first.missingB ? "missing" : valueText(first.b, info.type));
        }
        if (result.distance) {
            char distance[96];
            std::snprintf(distance, sizeof distance, "; %lld unequal, at most %.3g apart at step %lld",
                          static_cast<long long>(result.distance->unequal), result.distance->maxAbsolute,
                          static_cast<long long>(result.distance->maxStep));
            text += distance;
        }
        text += '\n';
    }
    for (const NotCompared& left : comparison.notCompared)
        text += "not compared " + std::string(quantityInfo(left.quantity)->name) + ": " + left.reason + '\n';
    return text;
}

std::string compareTraces(const std::string& folder, const std::string& a, const std::string& b,
                          const CompareOptions& options)
{
    const TracedRun runA = writeTrace(folder + "/a", a);
    const TracedRun runB = writeTrace(folder + "/b", b);
    Result<RunReader> readerA = RunReader::open(runA.folder);
    Result<RunReader> readerB = RunReader::open(runB.folder);
    if (!readerA.ok() || !readerB.ok())
        return (readerA.ok() ? readerB.error() : readerA.error()).sentence();
    const Result<Comparison> comparison = compareRuns(*readerA, runA.config, *readerB, runB.config, options);
    return comparison.ok() ? print(*comparison) : comparison.error().sentence() + '\n';
}

} // namespace lockstep::test
