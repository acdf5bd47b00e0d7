#include "core/gates/id_json_rows.h"

#include <rapidjson/error/en.h>

#include <charconv>

namespace lockstep {

bool IdJsonRows::row(const char* p, const char* end, std::int64_t line, Error& error)
{
    row_ = {};
    depth_ = 0;
    problem_.clear();
    rapidjson::MemoryStream stream(p, std::size_t(end - p));
    stream_ = &stream;
    reader_.Parse<rapidjson::kParseIterativeFlag>(stream, *this);
    if (!problem_.empty() || reader_.HasParseError()) {
        error = builder_.problem(
            line, std::int64_t(problem_.empty() ? reader_.GetErrorOffset() : stream.Tell()) + 1,
            problem_.empty() ? rapidjson::GetParseError_En(reader_.GetParseErrorCode()) : problem_,
            "Each line needs an object with epoch, rank, position and id (docs/phase1.md)");
        return false;
    }
    if ((row_.has & kRequiredIdFields) != kRequiredIdFields) {
        error = builder_.problem(line, end - p + 1, "the object lacks epoch, rank, position or id");
        return false;
    }
    if (!builder_.add(row_, line)) {
        error = builder_.error();
        return false;
    }
    return true;
}

bool IdJsonRows::Key(const char* name, rapidjson::SizeType size, bool)
{
    field_ = depth_ == 1 ? idFieldByName(std::string(name, size)) : IdField::Count;
    return true;
}

bool IdJsonRows::String(const char* text, rapidjson::SizeType size, bool)
{
    std::uint64_t v = 0;
    const bool hex = size > 2 && text[0] == '0' && text[1] == 'x';
    const auto [next, result] = std::from_chars(text + (hex ? 2 : 0), text + size, v, hex ? 16 : 10);
    if ((field_ == IdField::Hash || field_ == IdField::Draw) && result == std::errc() && next == text + size)
        return value(v, false);
    return Default();
}

bool IdJsonRows::Default()
{
    if (depth_ == 0)
        problem_ = "the line is not an object";
    else if (depth_ == 1 && field_ != IdField::Count)
        problem_ = "a value is not a whole number";
    return problem_.empty();
}

bool IdJsonRows::StartObject()
{
    if (depth_ == 1 && field_ != IdField::Count)
        return Default();
    ++depth_;
    return true;
}

bool IdJsonRows::StartArray()
{
    if (depth_ <= 1 && (depth_ == 0 || field_ != IdField::Count))
        return Default();
    ++depth_;
    return true;
}

bool IdJsonRows::value(std::uint64_t v, bool negative)
{
    if (depth_ == 0)
        return Default();
    if (depth_ > 1 || field_ == IdField::Count)
        return true;
    const bool wide = field_ == IdField::Hash || field_ == IdField::Draw;
    if (negative && field_ != IdField::Worker && !wide)
        problem_ = "a value is negative; ids and positions count from 0";
    else if (!wide && !negative && v > std::uint64_t(field_ == IdField::Step ? 0xffffffffu : INT64_MAX))
        problem_ = "a value is too large";
    row_.values[std::size_t(field_)] = std::int64_t(v);
    row_.columns[std::size_t(field_)] = std::int32_t(stream_->Tell()) + 1;
    row_.has |= 1u << unsigned(field_);
    return problem_.empty();
}

} // namespace lockstep
