// .wandb files of offline runs: the log format of LevelDB (blocks of 32 KiB, chunks with checksum, length and type;
// leveldb/doc/log_format.md) with the checksum of zlib, behind 7 bytes of their own; inside, Record messages
// (wandb/proto/wandb_internal.proto).
#include "core/config/json.h"
#include "core/logs/number_text.h"
#include "core/logs/readers.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <protozero/pbf_reader.hpp>

#include <cstring>

namespace lockstep::logs {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

constexpr std::uint64_t kBlock = 32768;
constexpr std::size_t kFileHead = 7;
constexpr std::size_t kChunkHead = 7; // u32 checksum, u16 length, u8 type; little-endian
constexpr std::size_t kLargestRecord = 64 << 20;
constexpr auto kVarint = pbf_wire_type::varint;
constexpr auto kBytes = pbf_wire_type::length_delimited;

std::string_view viewOf(pbf_reader& message)
{
    const protozero::data_view view = message.get_view();
    return {view.data(), view.size()};
}

// A JSON number or one of the bare words that Python writes; anything else is no scalar.
std::optional<double> jsonScalar(std::string_view json)
{
    json = trimmed(json);
    const bool word = json == "NaN" || json == "Infinity" || json == "-Infinity";
    const std::size_t sign = json.starts_with('-');
    if (!word && (json.size() == sign || json[sign] < '0' || json[sign] > '9'))
        return std::nullopt;
    return parseNumber(json);
}

// Cuts the file into records.
class ChunkReader
{
public:
    ChunkReader(InputFile& file, const std::string& name, Collector* problems)
        : file_(file), name_(name), problems_(problems)
    {
        file_.skip(kFileHead);
    }

    // The next whole record; false at the end. Valid until the next call.
    bool next(std::string_view& record)
    {
        record_.clear();
        open_ = false;
        for (;;) {
            const std::uint64_t room = kBlock - file_.offset() % kBlock;
            if (room < kChunkHead) { // padding
                file_.skip(room);
                continue;
            }
            if (file_.left() == 0) {
                if (open_)
                    report(start_, "The file ends inside a record, so its writer was stopped or has not "
                                   "written the rest yet. "
                                   "Everything before it was read");
                return false;
            }
            const std::uint64_t at = file_.offset();
            const std::string_view head = file_.peek(kChunkHead);
            std::uint16_t length = 0;
            if (head.size() == kChunkHead)
                std::memcpy(&length, head.data() + 4, sizeof length);
            const std::size_t size = kChunkHead + length;
            if (head.size() == kChunkHead && size > room) {
                damaged(at,
                        "The length of a chunk leads out of its block. Reading went on at the next block");
                file_.skip(room);
                continue;
            }
            const std::string_view chunk = file_.peek(size);
            if (head.size() < kChunkHead || chunk.size() < size) {
                report(open_ ? start_ : at,
                       "The file ends inside a record, so its writer was stopped or has not written the rest "
                       "yet. Everything before it was read");
                file_.skip(file_.left());
                return false;
            }
            std::uint32_t checksum = 0;
            std::memcpy(&checksum, chunk.data(), sizeof checksum);
            if (libdeflate_crc32(0, chunk.data() + 6, size - 6) != checksum || chunk[6] < 1 || chunk[6] > 4) {
                damaged(at, "The data of a chunk do not fit their checksum. Their record was left out");
                // The next chunk follows if the length is right; a second wrong checksum says that it is not.
                file_.skip(lost_ ? room : size);
                lost_ = true;
                continue;
            }
            lost_ = false;
            if (take(at, chunk[6], chunk.substr(kChunkHead))) {
                file_.skip(size);
                record = record_;
                return true;
            }
            file_.skip(size);
        }
    }
    std::uint64_t recordOffset() const { return start_; }

private:
    enum : char { Full = 1, First, Middle, Last };

    // True: the record is whole.
    bool take(std::uint64_t at, char type, std::string_view data)
    {
        if (type == Full || type == First) {
            if (open_)
                report(start_, "A record begins inside another. The first was left out");
            record_.clear();
            start_ = at;
            open_ = type == First;
            tooLarge_ = false;
        } else if (!open_) {
            return false; // the rest of a record whose beginning was damaged and reported
        }
        if (tooLarge_ || record_.size() + data.size() > kLargestRecord) {
            if (!tooLarge_)
                report(start_,
                       fmt::format("A record is larger than {} MiB. It was left out", kLargestRecord >> 20));
            tooLarge_ = true;
            record_.clear();
        } else {
            record_ += data;
        }
        if (type == Full || type == Last) {
            open_ = false;
            return !tooLarge_;
        }
        return false;
    }

    void damaged(std::uint64_t at, const char* text)
    {
        if (!lost_) // one place, one problem
            report(open_ ? start_ : at, text);
        record_.clear();
        open_ = false;
    }

    void report(std::uint64_t at, std::string text)
    {
        if (problems_)
            problems_->problem(name_, at, std::move(text));
    }

    InputFile& file_;
    const std::string& name_;
    Collector* problems_;
    std::string record_;
    std::uint64_t start_ = 0; // of the record
    bool open_ = false;       // its last chunk is still to come
    bool tooLarge_ = false;
    bool lost_ = false; // the chunk before was damaged
};

struct RunFacts {
    std::string id, name, group;
    std::optional<int> rank;
    double started = 0;
};

struct Item {
    std::string key; // nested keys joined with a point
    std::string_view first;
    std::string_view json;
};

Item itemOf(pbf_reader message)
{
    Item item;
    bool nested = false;
    while (message.next()) {
        switch (message.tag_and_type()) {
        case tag_and_type(1, kBytes):
            item.first = viewOf(message);
            item.key = item.first;
            break;
        case tag_and_type(2, kBytes): {
            const std::string_view part = viewOf(message);
            if (!nested)
                item.first = part;
            item.key = nested ? item.key + "." + std::string(part) : std::string(part);
            nested = true;
            break;
        }
        case tag_and_type(16, kBytes):
            item.json = viewOf(message);
            break;
        default:
            message.skip();
        }
    }
    return item;
}

// The configuration key "rank".
std::optional<int> rankOf(pbf_reader config)
{
    std::optional<int> found;
    while (config.next()) {
        if (config.tag_and_type() != tag_and_type(1, kBytes)) {
            config.skip();
            continue;
        }
        const Item item = itemOf(config.get_message());
        if (const std::optional<std::int64_t> rank = parseInteger(trimmed(item.json));
            item.key == "rank" && rank && *rank >= 0 && *rank < 1 << 20)
            found = int(*rank);
    }
    return found;
}

RunFacts runOf(pbf_reader message)
{
    RunFacts run;
    while (message.next()) {
        switch (message.tag_and_type()) {
        case tag_and_type(1, kBytes):
            run.id = viewOf(message);
            break;
        case tag_and_type(4, kBytes):
            run.rank = rankOf(message.get_message());
            break;
        case tag_and_type(6, kBytes):
            run.group = viewOf(message);
            break;
        case tag_and_type(8, kBytes):
            run.name = viewOf(message);
            break;
        case tag_and_type(17, kBytes): { // start time: seconds, nanoseconds
            pbf_reader time = message.get_message();
            while (time.next()) {
                if (time.tag_and_type() == tag_and_type(1, kVarint))
                    run.started += double(time.get_int64());
                else if (time.tag_and_type() == tag_and_type(2, kVarint))
                    run.started += 1e-9 * double(time.get_int64());
                else
                    time.skip();
            }
            break;
        }
        default:
            message.skip();
        }
    }
    return run;
}

void readHistory(pbf_reader message, std::optional<int> rank, SeriesSet& out)
{
    std::optional<std::int64_t> step;
    std::vector<Item> items;
    while (message.next()) {
        switch (message.tag_and_type()) {
        case tag_and_type(1, kBytes):
            items.push_back(itemOf(message.get_message()));
            break;
        case tag_and_type(2, kBytes): {
            step = 0; // an empty message
            pbf_reader number = message.get_message();
            while (number.next()) {
                if (number.tag_and_type() == tag_and_type(1, kVarint))
                    step = number.get_int64();
                else
                    number.skip();
            }
            break;
        }
        default:
            message.skip();
        }
    }
    for (const Item& item : items) {
        if (!step && item.key == "_step")
            step = parseInteger(trimmed(item.json));
    }
    for (const Item& item : items) {
        if (item.first == "_step" || item.first == "_runtime" || item.first == "_timestamp" ||
            item.first == "_wandb")
            continue;
        if (const std::optional<double> value = jsonScalar(item.json); value && step)
            out.add(rank, item.key, *step, {*value, LogStorage::Float64, std::nullopt});
    }
}

// "run-abc.wandb" -> "abc", for a file without a run record.
std::string idOfPath(const std::string& path)
{
    std::string name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("run-"))
        name.erase(0, 4);
    return name.substr(0, name.rfind(".wandb"));
}

} // namespace

bool looksLikeWandb(InputFile& file)
{
    return file.peek(4) == ":W&B";
}

double wandbBegin(InputFile& file)
{
    ChunkReader chunks(file, file.path(), nullptr);
    std::string_view record;
    try {
        for (int i = 0; i < 16 && chunks.next(record); ++i) {
            pbf_reader message(record.data(), record.size());
            while (message.next()) {
                if (message.tag_and_type() == tag_and_type(17, kBytes))
                    return runOf(message.get_message()).started;
                message.skip();
            }
        }
    } catch (const protozero::exception&) { // reading the file will report it
    }
    return 0;
}

void readWandb(InputFile& file, const Origin& origin, Collector& out)
{
    if (const std::string_view head = file.peek(kFileHead);
        head.size() < kFileHead || head.substr(4, 2) != "\xe1\xbe")
        return out.problem(origin.file, 0,
                           "The first seven bytes are not those of a .wandb file. Nothing was read");
    ChunkReader chunks(file, origin.file, &out);
    RunFacts facts;
    facts.id = idOfPath(file.path());
    facts.rank = origin.rank;
    SeriesSet* set = nullptr;
    std::string_view record;
    bool any = false;
    for (; chunks.next(record); any = true) {
        try {
            pbf_reader message(record.data(), record.size());
            while (message.next()) {
                if (message.tag_and_type() == tag_and_type(17, kBytes)) {
                    RunFacts found = runOf(message.get_message());
                    if (!found.rank)
                        found.rank = facts.rank;
                    if (found.id.empty())
                        found.id = facts.id;
                    facts = std::move(found);
                    set = &out.run("wandb", facts.id);
                    set->about().name = facts.name;
                    set->about().group = facts.group;
                } else if (message.tag_and_type() == tag_and_type(5, kBytes)) { // the configuration, changed
                    if (const std::optional<int> rank = rankOf(message.get_message()))
                        facts.rank = rank;
                } else if (message.tag_and_type() == tag_and_type(2, kBytes)) {
                    readHistory(message.get_message(), facts.rank, set ? *set : out.run("wandb", facts.id));
                } else {
                    message.skip();
                }
            }
        } catch (const protozero::exception&) {
            out.problem(origin.file, chunks.recordOffset(),
                        "A record cannot be understood although its checksum fits. The record was left out");
        }
    }
    if (!any && file.left() == 0 && file.offset() == kFileHead)
        out.problem(origin.file, kFileHead,
                    "The file has nothing but its head: the run was stopped before it wrote anything");
}

} // namespace lockstep::logs
