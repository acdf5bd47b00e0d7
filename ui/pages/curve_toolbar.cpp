#include "ui/pages/curve_toolbar.h"

#include "ui/widgets/building_blocks.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>

namespace lockstep {

namespace {

// Entries of the x axis, as the session keeps them.
enum XChoice { Steps, StepsLog, Samples, SamplesLog };

} // namespace

CurveToolbar::CurveToolbar(QWidget* parent) : QWidget(parent), x_(new QComboBox(this))
{
    setFixedHeight(38);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 4, 12, 4);
    row->setSpacing(10);
    x_->setObjectName(QStringLiteral("xAxis"));
    x_->setAccessibleName(tr("x axis"));
    x_->setProperty("small", true);
    x_->addItem(tr("step"), Steps);
    x_->addItem(tr("step, log"), StepsLog);
    x_->addItem(tr("samples"), Samples);
    x_->addItem(tr("samples, log"), SamplesLog);
    x_->setToolTip(tr("Runs with another global batch are read over samples; a log axis begins at step 0"));
    row->addWidget(label("note", tr("x axis"), this));
    row->addWidget(x_);
    row->addWidget(label("note", tr("ranks"), this));
    row->addWidget(segmentedButtons(
        {tr("mean"), tr("spread"), tr("all")}, int(ranks_),
        [this](int choice) {
            ranks_ = RankDisplay(choice);
            Q_EMIT ranksChanged();
        },
        this));
    log_ = new QCheckBox(tr("log loss"), this);
    log_->setToolTip(tr("Logarithmic axis for the loss (L changes the plot under focus)"));
    smoothing_ = new QCheckBox(tr("smoothing"), this);
    smoothing_->setToolTip(tr("Exponential, weight 0.9; the raw curve stays visible, values stay exact (S)"));
    smoothing_->setShortcut(QKeySequence(Qt::Key_S));
    follow_ = new QCheckBox(tr("follow"), this);
    follow_->setToolTip(tr("Keep the newest step in view while a run records"));
    for (QCheckBox* box : {log_, smoothing_, follow_})
        row->addWidget(box);
    row->addStretch(1);
    auto* hint = new ElidedLabel("hint", this, Qt::ElideRight);
    hint->setFullText(tr("wheel zooms, drag pans, Shift+drag selects, F fits, D first divergent step"));
    hint->setWholePhrases(true);
    hint->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    row->addWidget(hint);
    connect(x_, &QComboBox::currentIndexChanged, this, &CurveToolbar::xAxisChanged);
    connect(log_, &QCheckBox::toggled, this, &CurveToolbar::logarithmicChanged);
    connect(smoothing_, &QCheckBox::toggled, this, &CurveToolbar::smoothingChanged);
    connect(follow_, &QCheckBox::clicked, this, &CurveToolbar::followRequested);
}

XUnit CurveToolbar::xUnit() const
{
    return xChoice() == Samples || xChoice() == SamplesLog ? XUnit::Samples : XUnit::Step;
}

XScale CurveToolbar::xScale() const
{
    return xChoice() == StepsLog || xChoice() == SamplesLog ? XScale::Log : XScale::Linear;
}

bool CurveToolbar::logarithmic() const
{
    return log_->isChecked();
}

void CurveToolbar::setLogarithmic(bool on)
{
    log_->setChecked(on);
}

void CurveToolbar::showFollowing(bool following, bool possible)
{
    follow_->setEnabled(possible);
    follow_->setChecked(following);
}

int CurveToolbar::xChoice() const
{
    return x_->currentData().toInt();
}

void CurveToolbar::setXChoice(int choice)
{
    if (const int at = x_->findData(choice); at >= 0)
        x_->setCurrentIndex(at);
}

} // namespace lockstep
