// What differs between the configurations of runs A and B, grouped by effect, below the table of runs.
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace lockstep {

class DataTree;
class ElidedLabel;
class RunConfigDiffModel;
struct RunEntry;

class ConfigDiffPane : public QWidget
{
    Q_OBJECT

public:
    explicit ConfigDiffPane(QWidget* parent = nullptr);
    // Null: not marked, or not there any more.
    void setRuns(const RunEntry* a, const RunEntry* b);
    QString title() const; // "A x against B y", or what to do

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void layoutColumns();

    RunConfigDiffModel* diff_;
    DataTree* view_;
    ElidedLabel *title_, *summary_;
    QPushButton* copy_;
};

} // namespace lockstep
