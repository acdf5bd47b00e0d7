#include "app/cli/drill_parts.h"

#include <fmt/format.h>

namespace lockstep {

void writeParts(JsonDocument& json, const std::vector<GateCheck>& parts)
{
    json.key("checks").beginArray();
    for (const GateCheck& part : parts) {
        json.beginObject().key("id").text(part.id).key("verdict").text(part.verdict);
        json.key("value").text(part.value).key("limit").text(part.limit);
        json.key("sentence").text(part.sentence).endObject();
    }
    json.endArray();
}

std::vector<EvidenceRow> takeParts(GateCheck& whole, const std::vector<GateCheck>& parts,
                                   const std::string& runId)
{
    std::vector<EvidenceRow> rows;
    for (const GateCheck& part : parts) {
        rows.push_back({part.id, fmt::format("{} (expected {}): {}", part.value, part.limit, part.sentence)});
        if (part.verdict != "pass" && whole.fix.empty())
            whole.fix = fmt::format("Look at run {}: {}", runId, part.sentence);
    }
    return rows;
}

} // namespace lockstep
