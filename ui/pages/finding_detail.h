// One finding in full: the sentence, what speaks for it and what it rules out, the fix, and what the window offers to do
// about it. Every number of the evidence is a link to where it can be seen.
#pragma once

#include "ui/models/evidence_rows.h"
#include "ui/models/finding_offer.h"
#include "ui/widgets/building_blocks.h"

#include <vector>

namespace lockstep {

struct FindingRow;

class FindingDetail : public Pane
{
    Q_OBJECT

public:
    explicit FindingDetail(QWidget* parent = nullptr);
    // `newer`: what says that newer runs have followed; empty: none have.
    void showFinding(const FindingRow& finding, const QString& newer);
    void showOffer(const FindingOffer& offer);
    void setSeparating(bool on); // its causes are being told apart now

Q_SIGNALS:
    void evidenceChosen(const lockstep::EvidenceText& row);
    void curvesRequested();
    void separateRequested();
    void applyRequested();

private:
    Chip* confidence_;
    QLabel *sentence_, *where_, *speaksTitle_, *speaks_, *rulesOutTitle_, *rulesOut_, *fixTitle_, *offer_;
    CodeBlock* fix_;
    QPushButton *curves_, *separate_, *apply_;
    std::vector<EvidenceText> speaksRows_, excludesRows_; // as shown; links count in them
};

} // namespace lockstep
