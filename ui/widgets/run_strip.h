// Steps of a longer work side by side, each with its state, a word on the right and a bar of progress.
#pragma once

#include "ui/models/roles.h"

#include <QString>
#include <QWidget>

#include <vector>

namespace lockstep {

class RunStrip : public QWidget
{
    Q_OBJECT

public:
    struct Item {
        State state = State::Waiting;
        QString title, detail;
        double progress = 0; // 0 to 1
    };

    explicit RunStrip(QWidget* parent = nullptr);
    void setItems(std::vector<Item> items);

    QSize sizeHint() const override { return {600, 48}; }
    QSize minimumSizeHint() const override { return {300, 48}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRect rectOf(std::size_t item) const;

    std::vector<Item> items_;
};

} // namespace lockstep
