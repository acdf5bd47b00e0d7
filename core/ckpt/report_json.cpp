#include "core/ckpt/report_json.h"

#include "core/base/hexfloat.h"
#include "core/ckpt/catalogue.h"
#include "core/ckpt/ckpt_json.h"

#include <cctype>
#include <cstdio>

namespace lockstep {
namespace {

// Catalogue rows are numbers there, the others are texts.
void writeRow(CkptJson& d, const std::string& row)
{
    d.json.Key("row");
    if (std::isdigit(static_cast<unsigned char>(row.front())))
        d.json.Int(std::atoi(row.c_str()));
    else
        d.string(row);
}

void writeVerdict(CkptJson& d, const Verdict& verdict)
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

void writePlan(CkptJson& d, const SalvagePlan& plan)
{
    d.json.StartObject();
    d.flag("tree_known", plan.treeKnown);
    d.list("keys_whole", plan.keysWhole);
    d.list("keys_lost", plan.keysLost);
    d.list("records_whole", plan.recordsWhole);
    d.list("records_lost", plan.recordsLost);
    d.json.EndObject();
}

void writeSide(CkptJson& d, const char* name, DType dtype, const std::vector<std::int64_t>& shape,
               const ElementStats* stats)
{
    d.json.Key(name);
    d.json.StartObject();
    d.field("dtype", dtypeInfo(dtype).name);
    d.list("shape", shape);
    if (stats && hasStatistics(dtype)) {
        d.number("min", stats->min);
        d.number("max", stats->max);
        d.real("l2", stats->l2());
    }
    d.json.EndObject();
}

void writeKey(CkptJson& d, const KeyDiff& key)
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
        d.number("max_abs", e.maxAbs);
        if (const double* real = std::get_if<double>(&e.maxAbs))
            d.field("max_abs_hex", hexFloat(*real));
        d.field("nonfinite_mismatch", e.nonfiniteMismatch);
        d.field("nan_a", e.a.nan);
        d.field("nan_b", e.b.nan);
        d.field("inf_a", e.a.inf);
        d.field("inf_b", e.b.inf);
        if (key.typeA == key.typeB)
            d.field("bits_differ", e.bitsDiffer);
        else
            d.null("bits_differ");
        if (key.transposedValues)
            d.flag("transposed_values", true);
    }
    if (!key.problem.empty())
        d.field("problem", key.problem);
    d.json.EndObject();
}

void writeMapping(CkptJson& d, const KeyMapping& mapping)
{
    if (mapping.identity())
        return d.null("mapping");
    d.key("mapping");
    d.json.StartObject();
    d.field("a", mapping.prefixA);
    d.field("b", mapping.prefixB);
    if (!mapping.drop.empty())
        d.list("drop", mapping.drop);
    d.json.EndObject();
}

void writeRecordedSide(CkptJson& d, const char* name, std::uint64_t fingerprint, double norm)
{
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%016llx", static_cast<unsigned long long>(fingerprint));
    d.key(name);
    d.json.StartObject();
    d.field("fingerprint", digits);
    d.real("norm", norm);
    d.field("norm_hex", hexFloat(norm));
    d.json.EndObject();
}

void writeRecordedKey(CkptJson& d, const RecordedKeyDiff& key)
{
    d.json.StartObject();
    if (key.key)
        d.field("key_a", *key.key);
    if (key.recorded)
        d.field("key_b", *key.recorded);
    d.field("status", diffStatusName(key.status));
    if (key.recorded)
        d.flag("buffer", key.buffer);
    if (key.key) {
        d.field("dtype", dtypeInfo(key.type).name);
        d.list("shape", key.shape);
    }
    if (key.key && key.problem.empty())
        writeRecordedSide(d, "a", key.fingerprint, key.norm);
    if (key.recorded)
        writeRecordedSide(d, "b", key.recordedFingerprint, key.recordedNorm);
    if (!key.problem.empty())
        d.field("problem", key.problem);
    d.json.EndObject();
}

void writeConvert(CkptJson& d, const ConvertReport& report, const std::string& output, bool written)
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
    CkptJson d;
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
        if (item.rank)
            d.integer("rank", *item.rank);
        d.flag("present", item.present);
        d.flag("needed", item.needed);
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
    CkptJson d;
    d.json.StartObject();
    d.flag("equal", diff.equal());
    writeMapping(d, diff.mapping);
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

std::string runDiffJson(const RunDiff& diff)
{
    CkptJson d;
    d.json.StartObject();
    d.flag("equal", diff.equal());
    d.field("run", diff.run);
    d.integer("rank", diff.rank);
    d.integer("step", diff.step);
    if (diff.parametersEqual)
        d.flag("parameters_equal", *diff.parametersEqual);
    else
        d.null("parameters_equal");
    writeMapping(d, diff.mapping);
    d.key("keys");
    d.json.StartArray();
    for (const RecordedKeyDiff& key : diff.keys)
        writeRecordedKey(d, key);
    d.json.EndArray();
    d.field("bytes_read", diff.bytesRead);
    d.json.EndObject();
    return d.text();
}

std::string convertJson(const ConvertReport& report, const std::string& output, bool written)
{
    CkptJson d;
    d.json.StartObject();
    writeConvert(d, report, output, written);
    d.json.EndObject();
    return d.text();
}

std::string salvageJson(const SalvagePlan& plan, const ConvertReport* report, const std::string& output)
{
    CkptJson d;
    d.json.StartObject();
    d.json.Key("salvage");
    writePlan(d, plan);
    if (report)
        writeConvert(d, *report, output, true);
    d.json.EndObject();
    return d.text();
}

} // namespace lockstep
