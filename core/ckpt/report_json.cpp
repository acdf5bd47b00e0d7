#include "core/ckpt/report_json.h"

#include "core/base/hexfloat.h"
#include "core/ckpt/catalogue.h"
#include "core/ckpt/utf8.h"
#include "core/config/json.h"

#include <cctype>
#include <cmath>

namespace lockstep {
namespace {

class Document
{
public:
    Document() : json(buffer_) {}
    std::string text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

    void string(std::string_view value)
    {
        json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    }
    void field(const char* name, std::string_view value)
    {
        json.Key(name);
        string(value);
    }
    void field(const char* name, std::uint64_t value)
    {
        json.Key(name);
        json.Uint64(value);
    }
    void flag(const char* name, bool value)
    {
        json.Key(name);
        json.Bool(value);
    }
    void list(const char* name, const std::vector<std::string>& values)
    {
        json.Key(name);
        json.StartArray();
        for (const std::string& value : values)
            string(value);
        json.EndArray();
    }

private:
    rapidjson::StringBuffer buffer_;

public:
    JsonWriter json;
};

// Catalogue rows are numbers there, the others are texts.
void writeRow(Document& d, const std::string& row)
{
    d.json.Key("row");
    if (std::isdigit(static_cast<unsigned char>(row.front())))
        d.json.Int(std::atoi(row.c_str()));
    else
        d.string(row);
}

void writeVerdict(Document& d, const Verdict& verdict)
{
    d.json.StartObject();
    writeRow(d, verdict.row);
    d.field("severity", severityName(verdict.severity));
    if (const CatalogueRow* entry = catalogueRow(verdict.row)) {
        d.field("name", entry->name);
        d.field("cause", entry->cause);
    }
    if (!verdict.key.empty())
        d.field("key", verdict.key);
    if (!verdict.file.empty())
        d.field("file", verdict.file);
    if (!verdict.record.empty())
        d.field("record", verdict.record);
    if (verdict.offset)
        d.field("offset", *verdict.offset);
    d.field("sentence", verdict.sentence);
    d.field("fix", verdict.fix);
    d.field("error_text", verdict.errorText);
    if (!verdict.evidence.empty())
        d.list("evidence", verdict.evidence);
    d.json.EndObject();
}

void writePlan(Document& d, const SalvagePlan& plan)
{
    d.json.StartObject();
    d.flag("tree_known", plan.treeKnown);
    d.list("keys_whole", plan.keysWhole);
    d.list("keys_lost", plan.keysLost);
    d.list("records_whole", plan.recordsWhole);
    d.list("records_lost", plan.recordsLost);
    d.json.EndObject();
}

// Infinities are texts, as in the manifest: "inf".
void writeNumber(Document& d, const char* name, const ExactNumber& number)
{
    d.json.Key(name);
    if (const auto* integer = std::get_if<std::int64_t>(&number))
        d.json.Int64(*integer);
    else if (const auto* natural = std::get_if<std::uint64_t>(&number))
        d.json.Uint64(*natural);
    else if (const auto* real = std::get_if<double>(&number); real && std::isinf(*real))
        d.string(*real > 0 ? "inf" : "-inf");
    else if (real)
        d.json.Double(*real);
    else
        d.json.Null();
}

void writeSide(Document& d, const char* name, DType dtype, const std::vector<std::int64_t>& shape,
               const ElementStats* stats)
{
    d.json.Key(name);
    d.json.StartObject();
    d.field("dtype", dtypeInfo(dtype).name);
    d.json.Key("shape");
    d.json.StartArray();
    for (const std::int64_t size : shape)
        d.json.Int64(size);
    d.json.EndArray();
    if (stats && hasStatistics(dtype)) {
        writeNumber(d, "min", stats->min);
        writeNumber(d, "max", stats->max);
        d.json.Key("l2");
        d.json.Double(stats->l2());
    }
    d.json.EndObject();
}

void writeKey(Document& d, const KeyDiff& key)
{
    d.json.StartObject();
    if (key.keyA)
        d.field("key_a", *key.keyA);
    if (key.keyB)
        d.field("key_b", *key.keyB);
    d.field("status", diffStatusName(key.status));
    const ElementStats* statsA = key.compared() ? &key.elements.a : nullptr;
    const ElementStats* statsB = key.compared() ? &key.elements.b : nullptr;
    if (key.keyA)
        writeSide(d, "a", key.typeA, key.shapeA, statsA);
    if (key.keyB)
        writeSide(d, "b", key.typeB, key.shapeB, statsB);
    if (key.compared()) {
        const ElementDiff& e = key.elements;
        d.field("n_diff", e.valuesDiffer);
        writeNumber(d, "max_abs", e.maxAbs);
        if (const double* real = std::get_if<double>(&e.maxAbs))
            d.field("max_abs_hex", hexFloat(*real));
        d.field("nonfinite_mismatch", e.nonfiniteMismatch);
        d.field("nan_a", e.a.nan);
        d.field("nan_b", e.b.nan);
        d.field("inf_a", e.a.inf);
        d.field("inf_b", e.b.inf);
        d.json.Key("bits_differ");
        if (key.typeA == key.typeB)
            d.json.Uint64(e.bitsDiffer);
        else
            d.json.Null();
        if (key.transposedValues)
            d.flag("transposed_values", true);
    }
    if (!key.problem.empty())
        d.field("problem", key.problem);
    d.json.EndObject();
}

void writeConvert(Document& d, const ConvertReport& report, const std::string& output, bool written)
{
    d.field("output", output);
    d.flag("written", written);
    d.field("bytes", report.bytes);
    if (!report.needsTorch.empty())
        d.field("needs_torch", report.needsTorch);
    d.list("keys", report.keys);
    d.json.Key("renamed");
    d.json.StartArray();
    for (const auto& [from, to] : report.renamed) {
        d.json.StartObject();
        d.field("from", from);
        d.field("to", to);
        d.json.EndObject();
    }
    d.json.EndArray();
    d.list("notes", report.notes);
}

} // namespace

std::string verifyJson(const VerifyReport& report)
{
    Document d;
    d.json.StartObject();
    d.field("path", report.path);
    d.field("container", containerName(report.container));
    d.field("result", report.result);
    d.json.Key("verdicts");
    d.json.StartArray();
    for (const Verdict& verdict : report.verdicts)
        writeVerdict(d, verdict);
    d.json.EndArray();
    d.json.Key("resume");
    d.json.StartArray();
    for (const ResumeItem& item : report.resume) {
        d.json.StartObject();
        d.field("part", item.part);
        if (item.rank) {
            d.json.Key("rank");
            d.json.Int(*item.rank);
        }
        d.flag("present", item.present);
        if (!item.note.empty())
            d.field("note", item.note);
        d.json.EndObject();
    }
    d.json.EndArray();
    if (report.salvage) {
        d.json.Key("salvage");
        writePlan(d, *report.salvage);
    }
    d.json.Key("checked");
    d.json.StartObject();
    d.field("bytes", report.bytesChecked);
    d.field("records", report.recordsChecked);
    d.field("records_without_crc", report.recordsWithoutCrc);
    d.json.EndObject();
    d.json.EndObject();
    return d.text();
}

std::string diffJson(const CheckpointDiff& diff)
{
    Document d;
    d.json.StartObject();
    d.flag("equal", diff.equal());
    d.json.Key("mapping");
    if (diff.mapping.identity()) {
        d.json.Null();
    } else {
        d.json.StartObject();
        d.field("a", diff.mapping.prefixA);
        d.field("b", diff.mapping.prefixB);
        if (!diff.mapping.drop.empty())
            d.list("drop", diff.mapping.drop);
        d.json.EndObject();
    }
    d.json.Key("ties");
    d.json.StartArray();
    for (const TieDiff& tie : diff.ties) {
        d.json.StartObject();
        d.list("keys", tie.keys);
        d.flag("a", tie.tiedA);
        d.flag("b", tie.tiedB);
        d.json.EndObject();
    }
    d.json.EndArray();
    d.json.Key("keys");
    d.json.StartArray();
    for (const KeyDiff& key : diff.keys)
        writeKey(d, key);
    d.json.EndArray();
    d.field("bytes_read", diff.bytesRead);
    d.json.EndObject();
    return d.text();
}

std::string convertJson(const ConvertReport& report, const std::string& output, bool written)
{
    Document d;
    d.json.StartObject();
    writeConvert(d, report, output, written);
    d.json.EndObject();
    return d.text();
}

std::string salvageJson(const SalvagePlan& plan, const ConvertReport* report, const std::string& output)
{
    Document d;
    d.json.StartObject();
    d.json.Key("salvage");
    writePlan(d, plan);
    if (report)
        writeConvert(d, *report, output, true);
    d.json.EndObject();
    return d.text();
}

} // namespace lockstep
