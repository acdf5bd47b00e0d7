#include "ui/pages/evidence_panel.h"

#include "ui/models/format.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QGridLayout>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace lockstep {

namespace {

void clearGrid(QGridLayout* grid)
{
    while (QLayoutItem* item = grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

QLabel* cell(const char* role, const QString& text, bool right, QWidget* parent)
{
    QLabel* made = label(role, text, parent);
    made->setAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    made->setTextInteractionFlags(Qt::TextSelectableByMouse);
    made->setFixedHeight(22);
    return made;
}

} // namespace

EvidencePanel::EvidencePanel(QWidget* parent)
    : QFrame(parent),
      verdict_(new Chip(this)),
      live_(new Chip(this)),
      headline_(wrappedLabel("finding", {}, this)),
      sentence_(wrappedLabel("secondary", {}, this)),
      rowsTitle_(label("section", tr("First divergent step by quantity"), this)),
      valuesTitle_(label("section", tr("Exact values there"), this)),
      rows_(new QGridLayout),
      values_(new QGridLayout)
{
    setMinimumWidth(300);
    auto* head = new QWidget(this);
    head->setFixedHeight(36);
    auto* bar = new QHBoxLayout(head);
    bar->setContentsMargins(14, 0, 8, 0);
    bar->addWidget(label("paneTitle", tr("Evidence"), head));
    bar->addStretch(1);
    bar->addWidget(label("hint", tr("F4 hides"), head));
    auto* close = new QToolButton(head);
    close->setIcon(icon(QStringLiteral("close"), Tone::Secondary));
    close->setToolTip(tr("Hide the panel (F4)"));
    close->setAccessibleName(tr("Hide the panel"));
    bar->addWidget(close);
    connect(close, &QToolButton::clicked, this, &EvidencePanel::closeRequested);

    auto* body = new QWidget(this);
    body->setObjectName(QStringLiteral("scrollBody"));
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(14, 12, 14, 12);
    column->setSpacing(8);
    auto* chips = new QHBoxLayout;
    chips->setSpacing(6);
    chips->addWidget(verdict_);
    chips->addWidget(live_);
    chips->addStretch(1);
    column->addLayout(chips);
    column->addWidget(headline_);
    column->addWidget(sentence_);
    column->addSpacing(4);
    column->addWidget(rowsTitle_);
    rows_->setHorizontalSpacing(12);
    rows_->setVerticalSpacing(0);
    rows_->setColumnStretch(0, 1);
    column->addLayout(rows_);
    column->addSpacing(4);
    column->addWidget(valuesTitle_);
    values_->setHorizontalSpacing(12);
    values_->setVerticalSpacing(0);
    values_->setColumnStretch(0, 1);
    column->addLayout(values_);
    column->addStretch(1);

    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(body);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->setSpacing(0);
    whole->addWidget(head);
    whole->addWidget(horizontalLine(this));
    whole->addWidget(scroll, 1);
    setComparison(nullptr, {}, {});
}

void EvidencePanel::setComparison(const RunComparisonPtr& comparison, const QString& nameA,
                                  const QString& nameB)
{
    // A live pair is compared again every second; most answers say the same.
    const QString key = comparison ? comparison->headline + comparison->sentence + nameA + nameB +
                                         QString::number(comparison->first.size())
                                   : nameA + QLatin1Char('|') + nameB;
    if (key == shown_)
        return;
    shown_ = key;
    clearGrid(rows_);
    clearGrid(values_);
    const bool parts = comparison && !comparison->first.empty();
    rowsTitle_->setVisible(parts);
    valuesTitle_->setVisible(parts);
    live_->setState(State::Running, comparison && comparison->live ? tr("live") : QString());
    if (!comparison) {
        verdict_->setState(State::None, {});
        headline_->setText(nameA.isEmpty() || nameB.isEmpty() ? tr("Choose two runs") : tr("Comparing"));
        sentence_->setText(nameA.isEmpty() || nameB.isEmpty()
                               ? tr("Add a second run at the top. The first one is the reference.")
                               : tr("%1 against %2").arg(nameB, nameA));
        return;
    }
    verdict_->setState(comparison->verdict, comparison->verdict == State::Diverged
                                                ? tr("diverged at step %1").arg(comparison->firstStep)
                                            : comparison->verdict == State::Holds ? tr("no difference")
                                            : comparison->byDesign                ? tr("differs by design")
                                                                                  : tr("cannot compare"));
    headline_->setText(comparison->headline);
    sentence_->setText(comparison->sentence);
    if (!parts)
        return;
    rows_->addWidget(cell("hint", {}, false, this), 0, 0);
    rows_->addWidget(cell("hint", tr("step"), true, this), 0, 1);
    rows_->addWidget(cell("hint", tr("|delta|"), true, this), 0, 2);
    int row = 1;
    for (const DivergenceRow& one : comparison->first) {
        auto* title = new ElidedLabel("body", this, Qt::ElideRight);
        title->setFullText(one.title);
        auto* step = linkButton(QString::number(one.step), this);
        step->setFixedHeight(22);
        connect(step, &QPushButton::clicked, this, [this, at = one.step] { Q_EMIT stepChosen(at); });
        rows_->addWidget(title, row, 0);
        rows_->addWidget(step, row, 1, Qt::AlignRight);
        rows_->addWidget(cell("body", one.delta, true, this), row, 2);
        title->setToolTip(tr("%1, limit %2").arg(one.title, one.limit));
        ++row;
    }
    // The values where the runs part first; rows stand in causal order, and a later link may part earlier.
    const auto origin =
        std::find_if(comparison->first.begin(), comparison->first.end(),
                     [&](const DivergenceRow& one) { return one.step == comparison->firstStep; });
    const DivergenceRow& first = origin == comparison->first.end() ? comparison->first.front() : *origin;
    const std::pair<QString, QString> lines[] = {{nameA, first.a}, {nameB, first.b}};
    values_->addWidget(cell("secondary", tr("%1, step %2").arg(first.title).arg(first.step), false, this), 0,
                       0, 1, 2);
    row = 1;
    for (const auto& [name, value] : lines) {
        auto* title = new ElidedLabel("body", this);
        title->setFullText(name);
        QLabel* number = cell("body", value, true, this);
        values_->addWidget(title, row, 0);
        values_->addWidget(number, row, 1);
        ++row;
    }
}

} // namespace lockstep
