// What the comparison of two runs came to, in words and numbers: verdict, first divergent step, and for every quantity
// that parts its step, size and limit.
#pragma once

#include "ui/models/comparison_model.h"

#include <QFrame>

class QLabel;
class QGridLayout;
class QToolButton;

namespace lockstep {

class Chip;

class EvidencePanel : public QFrame
{
    Q_OBJECT

public:
    explicit EvidencePanel(QWidget* parent = nullptr);
    void setComparison(const RunComparisonPtr& comparison, const QString& nameA, const QString& nameB);

Q_SIGNALS:
    void closeRequested();
    void stepChosen(qint64 step);

private:
    Chip *verdict_, *live_;
    QLabel *headline_, *sentence_, *rowsTitle_, *valuesTitle_;
    QGridLayout *rows_, *values_;
    QString shown_;
};

} // namespace lockstep
