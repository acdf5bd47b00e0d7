// Findings: where runs part in the causal chain and why, as `diagnose` found it, how certain that is, the numbers that speak for it, what is ruled out and
// the fix. Starts a diagnosis of the chosen pair, the runs that tell causes of the same bits apart, and a run with the
// setting that undoes a finding.
#pragma once

#include "ui/models/evidence_rows.h"
#include "ui/models/finding_offer.h"
#include "ui/pages/page.h"

class QProgressBar;

namespace lockstep {

class Banner;
class CausalStrip;
class DataTable;
class FindingDetail;
class FindingsModel;
struct FindingRow;

class FindingsPage : public Page
{
    Q_OBJECT

public:
    explicit FindingsPage(const PageContext& context, QWidget* parent = nullptr);
    void open(const QString& argument) override;
    bool escape() override;
    void jumpToDivergence() override; // the finding's step, in Curves

private:
    void refresh();
    void showFinding(int row);
    std::pair<QString, QString> pairToDiagnose() const;
    void diagnose(bool prove);
    void tellOutcome();
    void showOffer(const FindingRow& finding);
    void separate();
    void tellWhatRemains();
    void applySetting();
    bool isApplying(int call);
    void openCurves();
    void openCurvesAt(qint64 step); // negative: no step
    void openEvidence(const EvidenceText& row);
    void showStrip();
    void showPair();
    void setWorking(bool on);
    int rowOfPair(const QString& pair) const; // the first where it is gone

    FindingsModel* findings_;
    CausalStrip* strip_;
    DataTable* table_;
    Banner* banner_;
    FindingDetail* detail_;
    QProgressBar* progress_;
    QPushButton *cancel_, *diagnose_, *prove_;
    FindingOffer offered_;
    int shown_ = -1;
    std::pair<QString, QString> asked_,
        ended_; // A and B of the diagnosis under way, and of the one to be told of
    std::pair<std::pair<QString, QString>, QString>
        told_;          // a pair without a finding, and what was said of it
    QString shownPair_; // "A|B" of the finding that is shown
    QString chainOf_;   // the reference of the chain where it is not the finding's; else empty
    std::optional<FindingRow> separated_; // the finding as it was before its causes were told apart
    bool toldApart_ = false;              // the command has ended; the project tells what came out
    QString applied_;                     // that run, until it has ended
    int applying_ = 0;                    // the call that starts a run with the mended setting; 0: none
};

} // namespace lockstep
