// A tensor as a picture: one cell per block of rows and columns, its colour the largest absolute value in it. Cells with a
// value that is not finite are red. Painted, tooltips name the block.
#pragma once

#include "ui/plots/plot_theme.h"

#include <QWidget>

#include <cstdint>
#include <vector>

namespace lockstep {

class TensorHeat : public QWidget
{
    Q_OBJECT

public:
    explicit TensorHeat(QWidget* parent = nullptr);
    // `cells` row by row, NaN: not finite. `allRows` x `allColumns` is what they stand for.
    void setCells(std::vector<double> cells, int rows, int columns, std::int64_t allRows,
                  std::int64_t allColumns);

    QSize sizeHint() const override { return {260, 160}; }
    QSize minimumSizeHint() const override { return {140, 90}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRect plotArea() const;

    std::vector<double> cells_;
    int rows_ = 0, columns_ = 0;
    std::int64_t allRows_ = 0, allColumns_ = 0;
    double most_ = 0;
};

} // namespace lockstep
