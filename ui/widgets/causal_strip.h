// The causal chain, read from left to right: one cell per link, the first broken one is the only filled cell. A click or
// Enter on a cell goes to its step. Too narrow for all cells, it shows those around the break.
#pragma once

#include "ui/models/roles.h"

#include <QString>
#include <QWidget>

#include <vector>

namespace lockstep {

class CausalStrip : public QWidget
{
    Q_OBJECT

public:
    struct Cell {
        State state = State::None;
        QString title, detail;
        qint64 step = -1;
    };

    explicit CausalStrip(QWidget* parent = nullptr);
    void setCells(std::vector<Cell> cells);
    // One sentence instead of cells: nothing to compare, or still comparing.
    void setSentence(State state, const QString& sentence);

    QSize sizeHint() const override { return {400, 56}; }
    QSize minimumSizeHint() const override { return {200, 56}; }

Q_SIGNALS:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Placed {
        std::size_t cell;
        QRect rect;
    };
    std::vector<Placed> place() const;
    int titleWidth(const Cell& cell) const; // of the cell with a title alone
    int cellWidth(const Cell& cell) const;
    int cellAt(const QPoint& pos) const;

    std::vector<Cell> cells_;
    State state_ = State::None;
    QString sentence_;
    int current_ = -1; // keyboard
};

} // namespace lockstep
