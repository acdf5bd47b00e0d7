// How the values of a tensor are spread: bars of equal width from the smallest to the largest finite value. A bin with a
// single value still has a bar. Painted, no interaction but tooltips with the exact count.
#pragma once

#include "ui/plots/plot_theme.h"

#include <QWidget>

#include <cstdint>
#include <vector>

namespace lockstep {

class TensorHistogram : public QWidget
{
    Q_OBJECT

public:
    explicit TensorHistogram(QWidget* parent = nullptr);
    // No bins: nothing is finite.
    void setBins(std::vector<std::int64_t> bins, double low, double high, std::int64_t nan, std::int64_t inf);

    QSize sizeHint() const override { return {260, 160}; }
    QSize minimumSizeHint() const override { return {140, 90}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRect plotArea() const;
    int binAt(int x) const; // -1: none

    std::vector<std::int64_t> bins_;
    double low_ = 0, high_ = 0;
    std::int64_t nan_ = 0, inf_ = 0;
};

} // namespace lockstep
