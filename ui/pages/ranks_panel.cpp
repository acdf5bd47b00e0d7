#include "ui/pages/ranks_panel.h"

#include "ui/models/ranks_cell_model.h"
#include "ui/models/ranks_equality_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/icons.h"

#include <QHBoxLayout>
#include <QStyle>
#include <QVBoxLayout>

namespace lockstep {

RanksPanel::RanksPanel(QAbstractItemModel* cell, QAbstractItemModel* equality, QWidget* parent)
    : QFrame(parent),
      title_(label("paneTitle", {}, this)),
      pinned_(new Chip(this)),
      headline_(wrappedLabel("finding", {}, this)),
      judgement_(wrappedLabel("secondary", {}, this)),
      equalityTitle_(label("section", {}, this)),
      cell_(new DataTable(this)),
      equality_(new DataTable(this)),
      curves_(button(tr("This step in Curves"), {}, this))
{
    setMinimumWidth(300);
    auto* head = new QWidget(this);
    head->setFixedHeight(36);
    auto* bar = new QHBoxLayout(head);
    bar->setContentsMargins(14, 0, 8, 0);
    bar->addWidget(title_);
    bar->addWidget(pinned_);
    bar->addStretch(1);
    auto* close = new QToolButton(head);
    close->setIcon(icon(QStringLiteral("close"), Tone::Secondary));
    close->setToolTip(tr("Hide the panel (F4)"));
    close->setAccessibleName(tr("Hide the panel"));
    bar->addWidget(close);
    connect(close, &QToolButton::clicked, this, &RanksPanel::closeRequested);
    pinned_->setState(State::None, tr("pinned"));

    headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    cell_->setModel(cell);
    cell_->setColumnPlan(RanksCellModel::What, {});
    cell_->setFixedRows(12);
    cell_->setAccessibleName(tr("Values of the cell"));
    equality_->setModel(equality);
    equality_->setColumnPlan(RanksEqualityModel::What, {});
    equality_->setFixedRows(5);
    equality_->setAccessibleName(tr("Equal on all ranks"));
    curves_->setObjectName(QStringLiteral("stepInCurves"));
    connect(curves_, &QPushButton::clicked, this, &RanksPanel::stepInCurves);

    auto* text = new QVBoxLayout;
    text->setContentsMargins(14, 12, 14, 0);
    text->setSpacing(4);
    text->addWidget(headline_);
    text->addWidget(judgement_);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(14, 6, 14, 0);
    buttons->addWidget(curves_);
    buttons->addStretch(1);
    auto* section = new QHBoxLayout;
    section->setContentsMargins(14, 12, 14, 2);
    section->addWidget(equalityTitle_);
    auto* hint = wrappedLabel(
        "hint", tr("Arrow keys move the cell, Enter pins it, Home goes to the first cell beyond the limit."),
        this);
    hint->setContentsMargins(14, 8, 14, 12);

    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->setSpacing(0);
    whole->addWidget(head);
    whole->addWidget(horizontalLine(this));
    whole->addLayout(text);
    whole->addSpacing(8);
    whole->addWidget(cell_);
    whole->addLayout(buttons);
    whole->addLayout(section);
    whole->addWidget(equality_);
    whole->addStretch(1);
    whole->addWidget(hint);
    showNoCell();
}

void RanksPanel::showCell(int rank, qint64 step, const QString& headline, const QString& judgement,
                          bool beyond, bool pinned)
{
    title_->setText(tr("Cell: rank %1, step %2").arg(rank).arg(step));
    headline_->setText(headline);
    headline_->show();
    judgement_->setText(judgement);
    const char* role = beyond ? "error" : "secondary";
    if (judgement_->property("role").toString() != QLatin1String(role)) {
        judgement_->setProperty("role", QLatin1String(role));
        judgement_->style()->unpolish(judgement_);
        judgement_->style()->polish(judgement_);
    }
    pinned_->setVisible(pinned);
    cell_->show();
    curves_->show();
}

void RanksPanel::showNoCell()
{
    title_->setText(tr("Cell"));
    headline_->hide();
    judgement_->setText(tr("Point at a cell to see its exact values."));
    pinned_->hide();
    cell_->hide();
    curves_->hide();
}

void RanksPanel::setRanks(int ranks)
{
    equalityTitle_->setText(ranks > 1 ? tr("Equal on all %1 ranks?").arg(ranks) : tr("Equal on all ranks?"));
}

} // namespace lockstep
