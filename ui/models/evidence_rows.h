// Evidence of checks and findings as the store keeps it: [{"label","text","excludes":bool}], of findings with the place it was
// seen at: "quantity", "step", "rank".
#pragma once

#include <QString>

#include <string>
#include <vector>

namespace lockstep {

struct EvidenceText {
    QString label, text;
    bool excludes = false; // speaks against a neighbouring cause, named by the label
    QString quantity = {}; // name; empty: none
    qint64 step = -1;
    int rank = -1;

    bool hasPlace() const { return step >= 0; }
};

// Rows that cannot be read are left out; text that is no JSON gives none.
std::vector<EvidenceText> evidenceRows(const std::string& json);
// A rich-text table of at most `most` rows; empty without rows.
QString evidenceHtml(const std::vector<EvidenceText>& rows, int most);
// The same with the label of every row that has a place as a link; its address is the row's number.
QString evidenceLinks(const std::vector<EvidenceText>& rows, int most);

} // namespace lockstep
