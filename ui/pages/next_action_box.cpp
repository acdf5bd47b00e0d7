#include "ui/pages/next_action_box.h"

#include "ui/widgets/building_blocks.h"
#include "ui/widgets/icons.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QVBoxLayout>

namespace lockstep {

NextActionBox::NextActionBox(QWidget* parent)
    : QFrame(parent),
      shape_(new QLabel(this)),
      title_(wrappedLabel("finding", {}, this)),
      sentence_(wrappedLabel("secondary", {}, this)),
      primary_(primaryButton({}, {}, this)),
      secondary_(button({}, {}, this)),
      other_(button({}, {}, this)),
      progress_(new QProgressBar(this))
{
    setObjectName(QStringLiteral("nextAction"));
    primary_->setObjectName(QStringLiteral("nextPrimary"));
    other_->setObjectName(QStringLiteral("nextOther"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 14);
    column->setSpacing(8);
    auto* row = new QHBoxLayout;
    row->setSpacing(12);
    auto* words = new QVBoxLayout;
    words->setSpacing(3);
    auto* headline = new QHBoxLayout;
    headline->setSpacing(8);
    headline->addWidget(shape_);
    headline->addWidget(title_, 1);
    words->addWidget(label("section", tr("Next action"), this));
    words->addLayout(headline);
    words->addWidget(sentence_);
    row->addLayout(words, 1);
    row->addWidget(other_, 0, Qt::AlignVCenter);
    row->addWidget(secondary_, 0, Qt::AlignVCenter);
    row->addWidget(primary_, 0, Qt::AlignVCenter);
    progress_->setTextVisible(false);
    progress_->setRange(0, 1000);
    column->addLayout(row);
    column->addWidget(progress_);
    connect(primary_, &QPushButton::clicked, this, [this] { Q_EMIT chosen(action_.primary); });
    connect(other_, &QPushButton::clicked, this, [this] { Q_EMIT chosen(action_.other); });
    connect(secondary_, &QPushButton::clicked, this, [this] {
        if (pending_)
            Q_EMIT cancelRequested();
        else
            Q_EMIT chosen(action_.secondary);
    });
}

void NextActionBox::setAction(const NextAction& action)
{
    action_ = action;
    refresh();
}

void NextActionBox::setPending(bool pending)
{
    pending_ = pending;
    refresh();
}

void NextActionBox::refresh()
{
    shape_->setPixmap(stateIcon(action_.state).pixmap(QSize(16, 16), devicePixelRatioF()));
    title_->setText(action_.title);
    sentence_->setText(action_.sentence);
    primary_->setText(action_.primary.text);
    primary_->setVisible(action_.primary.command != NextAction::Command::None);
    primary_->setEnabled(!pending_);
    const bool starts = action_.primary.command == NextAction::Command::StartPair ||
                        action_.primary.command == NextAction::Command::StartRun;
    primary_->setIcon(starts ? onAccentIcon(QStringLiteral("play")) : QIcon());
    other_->setText(action_.other.text);
    other_->setVisible(!pending_ && action_.other.command != NextAction::Command::None);
    secondary_->setText(pending_ ? tr("Cancel") : action_.secondary.text);
    secondary_->setVisible(pending_ || action_.secondary.command != NextAction::Command::None);
    secondary_->setIcon(!pending_ && action_.secondary.command == NextAction::Command::StopRun
                            ? icon(QStringLiteral("stop"), Tone::Secondary)
                            : QIcon());
    progress_->setVisible(pending_ || action_.progress >= 0);
    if (pending_)
        progress_->setRange(0, 0);
    else
        progress_->setRange(0, 1000), progress_->setValue(int(action_.progress * 1000));
}

} // namespace lockstep
