// A few deciding facts side by side: shape, what it is about, the number, advice.
#pragma once

#include "ui/models/roles.h"

#include <QFrame>
#include <QString>

#include <vector>

class QHBoxLayout;
class QLabel;

namespace lockstep {

class ElidedLabel;

class FactRow : public QFrame
{
    Q_OBJECT

public:
    struct Fact {
        State state = State::Waiting;
        QString title, value, advice;
    };

    explicit FactRow(QWidget* parent = nullptr);
    void setFacts(const std::vector<Fact>& facts);

private:
    struct Place {
        QWidget* box;
        QLabel* shape;
        QLabel* title;
        ElidedLabel* value;
        QLabel* advice;
    };
    Place makePlace();

    QHBoxLayout* row_;
    std::vector<Place> places_;
};

} // namespace lockstep
