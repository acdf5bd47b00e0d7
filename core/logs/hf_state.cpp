// trainer_state.json of the Hugging Face Trainer: an object whose member log_history is a list of rows. Read as a stream, so
// that a file that ends early gives the rows before its end.
#include "core/config/json.h"
#include "core/logs/readers.h"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>

namespace lockstep::logs {

namespace {

constexpr std::size_t kSniffed = 1 << 16;

// A RapidJSON input stream over the window of an InputFile.
class JsonStream
{
public:
    using Ch = char;
    explicit JsonStream(InputFile& file) : file_(file) { fill(); }

    Ch Peek() const { return at_ < window_.size() ? window_[at_] : '\0'; }
    Ch Take()
    {
        const Ch c = Peek();
        if (at_ < window_.size() && ++at_ == window_.size())
            fill();
        return c;
    }
    std::size_t Tell() const { return std::size_t(file_.offset()) + at_; }
    // For writing in place, which is not asked for.
    Ch* PutBegin() { return nullptr; }
    void Put(Ch) {}
    void Flush() {}
    std::size_t PutEnd(Ch*) { return 0; }

private:
    void fill()
    {
        file_.skip(at_);
        window_ = file_.peek(1 << 16);
        at_ = 0;
    }

    InputFile& file_;
    std::string_view window_;
    std::size_t at_ = 0;
};

// Puts the numbers of each complete row into the series.
class RowHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, RowHandler>
{
public:
    RowHandler(const JsonStream& stream, SeriesSet& out, std::optional<int> rank)
        : stream_(stream), out_(out), rank_(rank)
    {
    }

    bool Int(int value) { return number(double(value), value); }
    bool Uint(unsigned value) { return number(double(value), value); }
    bool Int64(std::int64_t value) { return number(double(value), value); }
    bool Uint64(std::uint64_t value)
    {
        return number(double(value),
                      value <= std::uint64_t(INT64_MAX) ? std::optional(std::int64_t(value)) : std::nullopt);
    }
    bool Double(double value)
    {
        const bool whole = value == double(std::int64_t(std::clamp(value, -9e15, 9e15)));
        return number(value, whole ? std::optional(std::int64_t(value)) : std::nullopt);
    }
    bool String(const char*, rapidjson::SizeType, bool) { return true; }
    bool Default() { return true; }
    bool Key(const char* text, rapidjson::SizeType length, bool)
    {
        if (depth_ == 1)
            top_.assign(text, length);
        else if (depth_ == kRowDepth)
            key_.assign(text, length);
        return true;
    }
    bool StartObject()
    {
        if (++depth_ == kRowDepth) {
            row_.clear();
            step_.reset();
        }
        return true;
    }
    bool EndObject(rapidjson::SizeType)
    {
        if (inRow())
            finishRow();
        --depth_;
        return true;
    }
    bool StartArray()
    {
        ++depth_;
        return true;
    }
    bool EndArray(rapidjson::SizeType)
    {
        if (--depth_ == 1 && top_ == "log_history")
            complete_ = true;
        return true;
    }

    std::uint64_t goodBytes() const { return goodBytes_; } // up to the closing brace of the last row
    bool complete() const { return complete_; }            // the list of rows has its end
    std::int64_t withoutStep() const { return withoutStep_; }

private:
    static constexpr int kRowDepth = 3; // the document, the list, the row

    bool inRow() const { return depth_ == kRowDepth && top_ == "log_history"; }

    bool number(double value, std::optional<std::int64_t> whole)
    {
        if (!inRow())
            return true;
        if (key_ == "step")
            step_ = whole;
        else
            row_.emplace_back(key_, value);
        return true;
    }

    void finishRow()
    {
        goodBytes_ = stream_.Tell() + 1; // RapidJSON takes the brace after telling of it
        if (!step_)
            ++withoutStep_;
        else
            for (const auto& [key, value] : row_)
                out_.add(rank_, key, *step_, {value, LogStorage::Float64, std::nullopt});
    }

    const JsonStream& stream_;
    SeriesSet& out_;
    std::optional<int> rank_;
    int depth_ = 0;
    std::string top_, key_;
    std::vector<std::pair<std::string, double>> row_;
    std::optional<std::int64_t> step_;
    std::uint64_t goodBytes_ = 0;
    std::int64_t withoutStep_ = 0;
    bool complete_ = false;
};

} // namespace

bool looksLikeHfState(InputFile& file)
{
    const std::string_view head = file.peek(kSniffed);
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && head[first] == '{' &&
           head.find("\"log_history\"") != std::string_view::npos;
}

void readHfState(InputFile& file, const Origin& origin, Collector& out)
{
    SeriesSet& set = out.run("hf", origin.run);
    JsonStream stream(file);
    RowHandler handler(stream, set, origin.rank);
    rapidjson::Reader reader;
    // Iterative: brackets cannot use up the stack.
    constexpr unsigned kFlags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseFullPrecisionFlag |
                                rapidjson::kParseIterativeFlag | rapidjson::kParseStopWhenDoneFlag;
    const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, handler);
    if (parsed.IsError())
        out.problem(origin.file, handler.goodBytes(),
                    fmt::format("The JSON is damaged or ends early: at byte {}: {} The {} were read",
                                parsed.Offset(), rapidjson::GetParseError_En(parsed.Code()),
                                handler.complete() ? "rows, which stand before that," : "rows before that"));
    if (handler.withoutStep() > 0)
        out.problem(
            origin.file, std::nullopt,
            fmt::format("{} rows of log_history have no step and were left out", handler.withoutStep()));
}

} // namespace lockstep::logs
