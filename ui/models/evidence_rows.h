// Evidence of checks and findings as the store keeps it: [{"label","text","excludes":bool}].
#pragma once

#include <QString>

#include <string>
#include <vector>

namespace lockstep {

struct EvidenceText {
    QString label, text;
    bool excludes = false; // speaks against a neighbouring cause, named by the label
};

// Rows that cannot be read are left out; text that is no JSON gives none.
std::vector<EvidenceText> evidenceRows(const std::string& json);
// A rich-text table of at most `most` rows; empty without rows.
QString evidenceHtml(const std::vector<EvidenceText>& rows, int most);

} // namespace lockstep
