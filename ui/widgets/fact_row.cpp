#include "ui/widgets/fact_row.h"

#include "ui/widgets/building_blocks.h"
#include "ui/widgets/icons.h"

#include <QGridLayout>
#include <QHBoxLayout>

namespace lockstep {

FactRow::FactRow(QWidget* parent) : QFrame(parent), row_(new QHBoxLayout(this))
{
    setObjectName(QStringLiteral("pane"));
    row_->setContentsMargins(12, 8, 12, 8);
    row_->setSpacing(20);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

FactRow::Place FactRow::makePlace()
{
    Place place;
    place.box = new QWidget(this);
    auto* grid = new QGridLayout(place.box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(1);
    place.shape = new QLabel(place.box);
    place.title = label("note", {}, place.box);
    place.value = new ElidedLabel("paneTitle", place.box, Qt::ElideRight);
    place.advice = wrappedLabel("note", {}, place.box);
    place.advice->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    grid->addWidget(place.shape, 0, 0, Qt::AlignVCenter);
    grid->addWidget(place.title, 0, 1);
    grid->addWidget(place.value, 1, 1);
    grid->addWidget(place.advice, 2, 1);
    grid->setColumnStretch(1, 1);
    grid->setRowStretch(3, 1); // beside longer advice
    row_->addWidget(place.box, 1);
    return place;
}

void FactRow::setFacts(const std::vector<Fact>& facts)
{
    while (places_.size() < facts.size())
        places_.push_back(makePlace());
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const Place& place = places_[i];
        place.box->setVisible(i < facts.size());
        if (i >= facts.size())
            continue;
        place.shape->setPixmap(stateIcon(facts[i].state).pixmap(14, 14));
        place.title->setText(facts[i].title);
        place.value->setFullText(facts[i].value);
        place.advice->setText(facts[i].advice);
        place.box->setAccessibleName(facts[i].title + QStringLiteral(": ") + facts[i].value);
    }
}

} // namespace lockstep
