#include "ui/pages/finding_detail.h"

#include "ui/models/findings_model.h"
#include "ui/models/format.h"

#include <QScrollArea>
#include <QVBoxLayout>

namespace lockstep {

namespace {

constexpr int kWidth = 380;
constexpr int kRowsShown = 24;

} // namespace

FindingDetail::FindingDetail(QWidget* parent) : Pane(tr("Finding"), parent)
{
    setFixedWidth(kWidth);
    confidence_ = new Chip(this);
    head()->addWidget(confidence_);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget(scroll);
    page->setObjectName(QStringLiteral("scrollBody"));
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(8);
    sentence_ = wrappedLabel("finding", {}, page);
    where_ = wrappedLabel("note", {}, page);
    speaksTitle_ = label("section", tr("Speaks for it"), page);
    speaks_ = wrappedLabel("note", {}, page);
    speaks_->setObjectName(QStringLiteral("evidence"));
    rulesOutTitle_ = label("section", tr("Rules out"), page);
    rulesOut_ = wrappedLabel("note", {}, page);
    fixTitle_ = label("section", tr("Fix"), page);
    fix_ = new CodeBlock(page);
    offer_ = wrappedLabel("note", {}, page);
    curves_ = button(tr("Open in Curves"), QStringLiteral("curves"), page);
    separate_ = button({}, QStringLiteral("play"), page);
    separate_->setObjectName(QStringLiteral("separate"));
    apply_ = button({}, QStringLiteral("play"), page);
    apply_->setObjectName(QStringLiteral("applySetting"));
    for (QLabel* text : {speaks_, rulesOut_}) {
        text->setTextFormat(Qt::RichText);
        text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse |
                                      Qt::LinksAccessibleByKeyboard);
        connect(text, &QLabel::linkActivated, this, [this, text](const QString& row) {
            const std::vector<EvidenceText>& rows = text == speaks_ ? speaksRows_ : excludesRows_;
            if (const std::size_t at = row.toUInt(); at < rows.size())
                Q_EMIT evidenceChosen(rows[at]);
        });
    }
    for (QWidget* one : std::initializer_list<QWidget*>{sentence_, where_, speaksTitle_, speaks_,
                                                        rulesOutTitle_, rulesOut_, fixTitle_, fix_, offer_})
        column->addWidget(one);
    for (QPushButton* one : {separate_, apply_, curves_})
        column->addWidget(one, 0, Qt::AlignLeft);
    column->addStretch(1);
    scroll->setWidget(page);
    addWidget(scroll, 1);
    connect(curves_, &QPushButton::clicked, this, &FindingDetail::curvesRequested);
    connect(separate_, &QPushButton::clicked, this, &FindingDetail::separateRequested);
    connect(apply_, &QPushButton::clicked, this, &FindingDetail::applyRequested);
}

void FindingDetail::showFinding(const FindingRow& finding, const QString& newer)
{
    confidence_->setState(!newer.isEmpty()                 ? State::Off
                          : finding.confidence == "benign" ? State::Holds
                                                           : State::Diverged,
                          confidenceWord(finding.confidence));
    sentence_->setText(qs(finding.sentence));
    // Several are the same bits: one of them it is.
    QStringList where{tr("cause %1").arg(qs(finding.cause).replace(QLatin1String(", "), tr(" or ")))};
    if (finding.step >= 0)
        where << tr("step %1").arg(finding.step);
    where << (finding.rank >= 0 ? tr("rank %1").arg(finding.rank) : tr("all ranks"));
    where << tr("%1 against %2").arg(qs(finding.runB), qs(finding.runA));
    if (!newer.isEmpty())
        where << newer;
    where_->setText(where.join(QStringLiteral(", ")));
    speaksRows_.clear();
    excludesRows_.clear();
    for (EvidenceText& one : evidenceRows(finding.evidenceJson))
        (one.excludes ? excludesRows_ : speaksRows_).push_back(std::move(one));
    speaks_->setText(evidenceLinks(speaksRows_, kRowsShown));
    rulesOut_->setText(evidenceLinks(excludesRows_, kRowsShown));
    speaksTitle_->setVisible(!speaksRows_.empty());
    speaks_->setVisible(!speaksRows_.empty());
    rulesOutTitle_->setVisible(!excludesRows_.empty());
    rulesOut_->setVisible(!excludesRows_.empty());
    fixTitle_->setVisible(!finding.fix.empty());
    fix_->setVisible(!finding.fix.empty());
    fix_->setCode(qs(finding.fix));
}

void FindingDetail::showOffer(const FindingOffer& offer)
{
    offer_->setText(offer.separates);
    offer_->setVisible(!offer.separates.isEmpty());
    separate_->setText(offer.separateButton);
    separate_->setVisible(!offer.separateButton.isEmpty());
    apply_->setText(tr("Run again with %1").arg(offer.change));
    apply_->setVisible(offer.mended.has_value());
}

void FindingDetail::setSeparating(bool on)
{
    separate_->setEnabled(!on);
}

} // namespace lockstep
