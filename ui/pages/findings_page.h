// Findings: why runs part, as `diagnose` found it, how certain that is, the numbers that speak for it, what is ruled out and
// the fix. Starts a diagnosis of the chosen pair.
#pragma once

#include "ui/pages/page.h"

class QLabel;
class QProgressBar;

namespace lockstep {

class Banner;
class Chip;
class CodeBlock;
class DataTable;
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
    QWidget* makeDetail();
    void refresh();
    void showFinding(int row);
    void diagnose(bool prove);
    void openCurves();

    FindingsModel* findings_;
    DataTable* table_;
    Banner* banner_;
    QWidget* detail_ = nullptr;
    Chip* confidence_ = nullptr;
    QLabel *sentence_ = nullptr, *where_ = nullptr, *speaksTitle_ = nullptr, *speaks_ = nullptr,
           *rulesOutTitle_ = nullptr, *rulesOut_ = nullptr, *fixTitle_ = nullptr;
    CodeBlock* fix_ = nullptr;
    QProgressBar* progress_;
    QPushButton *diagnose_, *prove_, *curves_ = nullptr;
    int shown_ = -1;
};

} // namespace lockstep
