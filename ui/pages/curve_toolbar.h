// How the curves are drawn: x axis, which ranks, scale, smoothing, following a live run.
#pragma once

#include "ui/pages/curve_looks.h"
#include "ui/plots/plot_mapping.h"

#include <QWidget>

class QCheckBox;
class QComboBox;

namespace lockstep {

class CurveToolbar : public QWidget
{
    Q_OBJECT

public:
    explicit CurveToolbar(QWidget* parent = nullptr);

    RankDisplay ranks() const { return ranks_; }
    XUnit xUnit() const;
    XScale xScale() const;
    bool logarithmic() const; // the loss
    void setLogarithmic(bool on);
    void showFollowing(bool following, bool possible); // says what is, changes nothing
    // For the session; anything else is ignored.
    int xChoice() const;
    void setXChoice(int choice);

Q_SIGNALS:
    void ranksChanged();
    void xAxisChanged();
    void logarithmicChanged(bool on);
    void smoothingChanged(bool on);
    void followRequested(bool on);

private:
    QComboBox* x_;
    QCheckBox *log_, *smoothing_, *follow_;
    RankDisplay ranks_ = RankDisplay::Spread;
};

} // namespace lockstep
