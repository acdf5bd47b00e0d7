#include "ui/pages/drills_page.h"

#include "ui/models/format.h"
#include "ui/models/project_model.h"
#include "ui/pages/curve_looks.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/drill_timeline.h"

#include <QEvent>
#include <QGridLayout>
#include <QScrollArea>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kSideWidth = 340;

QString secondsText(double seconds)
{
    return DrillsPage::tr("%1 s").arg(seconds, 0, 'f', seconds < 10 ? 2 : 1);
}

FactTable tableOf(const DrillsPicture& picture)
{
    FactTable out;
    out.headers = {DrillsPage::tr("drill"), DrillsPage::tr("all gone after"), DrillsPage::tr("limit"),
                   DrillsPage::tr("when"), DrillsPage::tr("survivors")};
    out.numbers = {1, 2};
    for (const DrillStory& one : picture.drills) {
        const bool played = one.state == State::Holds || one.state == State::Diverged;
        const bool ended = played && one.survivors > 0;
        out.rows.push_back(
            {one.state,
             {one.title, played ? secondsText(one.goneAfter) : QStringLiteral("-"),
              played ? secondsText(one.limit) : QStringLiteral("-"),
              one.step >= 0                 ? DrillsPage::tr("step %1").arg(one.step)
              : one.state == State::Running ? DrillsPage::tr("now")
              : !one.error.isEmpty()        ? DrillsPage::tr("not readable")
                                            : DrillsPage::tr("not played"),
              ended ? DrillsPage::tr("%1 of %2 name it").arg(one.survivorsNaming).arg(one.survivors)
                    : QStringLiteral("-")}});
    }
    return out;
}

} // namespace

DrillsPage::DrillsPage(const PageContext& context, QWidget* parent)
    : GatePage(context, QStringLiteral("drills"), parent)
{
    drillsPane_ = new Pane(tr("Drills on real processes"), this);
    play_ = button(tr("Play this drill"), QStringLiteral("play"), drillsPane_);
    play_->setObjectName(QStringLiteral("playDrill"));
    drillsPane_->head()->addWidget(play_);
    drills_ = new FactTableModel(this);
    drillsTable_ = new DataTable(drillsPane_);
    drillsTable_->setObjectName(QStringLiteral("drillsTable"));
    drillsTable_->setAccessibleName(tr("Drills"));
    drillsTable_->setModel(drills_);
    drillsTable_->setColumnPlan(0, {4, 3});
    drillsTable_->setFixedHeight(24 + 8 * 24 + 2); // all of them; a low window scrolls
    drillsPane_->addWidget(drillsTable_);
    drillsPane_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);

    timelinePane_ = new Pane(tr("Who noticed when"), this);
    timelinePane_->head()->addWidget(label(
        "hint", tr("disc: notices; square: exits; diamond: names the cause; hatched: waits"), timelinePane_));
    timeline_ = new DrillTimeline(timelinePane_);
    timeline_->setObjectName(QStringLiteral("drillTimeline"));
    timelineSentence_ = wrappedLabel("note", {}, timelinePane_);
    timelineSentence_->setContentsMargins(12, 4, 12, 8);
    timelinePane_->addWidget(timeline_);
    timelinePane_->addWidget(timelineSentence_);
    timelinePane_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);

    column()->insertWidget(2, drillsPane_);
    column()->insertWidget(3, timelinePane_);
    side_ = new QWidget(this);
    auto* side = new QVBoxLayout(side_);
    side->setContentsMargins(0, 0, 0, 0);
    side->setSpacing(12);
    side->addWidget(makeTimeoutPane());
    side->addWidget(makeDegradePane(), 1);
    side_->setObjectName(QStringLiteral("scrollBody"));
    auto* scroll = new QScrollArea(this); // a low window cuts nothing
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(side_);
    scroll->setFixedWidth(kSideWidth);
    addSide(scroll);

    connect(drillsTable_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { showDrill(current.row()); });
    connect(play_, &QPushButton::clicked, this, [this] {
        const int row = drillsTable_->currentIndex().row();
        if (picture_ && row >= 0)
            this->context().commands.playDrill(picture_->drills[std::size_t(row)].word);
    });
    connect(&context.project, &ProjectModel::changed, this, &DrillsPage::load);
    refresh();
}

QWidget* DrillsPage::makeTimeoutPane()
{
    auto* pane = new Pane(tr("Timeout"), this);
    timeoutFor_ = label("note", {}, pane);
    pane->head()->addWidget(timeoutFor_);
    auto* words = new QVBoxLayout;
    words->setContentsMargins(12, 8, 12, 10);
    words->setSpacing(6);
    timeout_ = label("hero", {}, pane);
    timeout_->setObjectName(QStringLiteral("timeoutAdvice"));
    words->addWidget(timeout_);
    terms_ = new QGridLayout;
    terms_->setHorizontalSpacing(12);
    terms_->setVerticalSpacing(3);
    terms_->setColumnStretch(0, 3);
    terms_->setColumnStretch(1, 2);
    words->addLayout(terms_);
    timeoutSentence_ = wrappedLabel("note", {}, pane);
    words->addWidget(timeoutSentence_);
    pane->body()->addLayout(words);
    return pane;
}

QWidget* DrillsPage::makeDegradePane()
{
    auto* pane = new Pane(tr("Goes on with fewer ranks"), this);
    auto* play = button(tr("Play"), QStringLiteral("play"), pane);
    play->setToolTip(tr("A run loses a rank, goes on with fewer and gets its ranks back"));
    pane->head()->addWidget(play);
    degradeText_ = wrappedLabel("note", {}, pane);
    degradeText_->setContentsMargins(12, 8, 12, 4);
    degradeText_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    feed_ = new CurveFeed({Quantity::Loss}, this);
    degradePlot_ = new CurveView(pane);
    degradePlot_->setObjectName(QStringLiteral("degradePlot"));
    degradePlot_->setInteractive(false);
    degradePlot_->setMargins(48, 16);
    degradePlot_->setTitle(tr("loss, mean over ranks"));
    degradePlot_->setEmptyText(tr("waiting for the first step"));
    degradePlot_->setMinimumHeight(140);
    pane->addWidget(degradeText_);
    pane->addWidget(degradePlot_, 1);
    connect(play, &QPushButton::clicked, this,
            [this] { context().commands.playDrill(QStringLiteral("degrade")); });
    connect(feed_, &CurveFeed::changed, this, &DrillsPage::drawDegrade);
    return pane;
}

void DrillsPage::open(const QString& argument)
{
    GatePage::open(argument);
    load();
}

void DrillsPage::gateShown(const GateInfo*)
{
    if (side_)
        load();
}

void DrillsPage::checkShown(const GateCheck& check)
{
    // A check of the gate shows its drill.
    const std::string word = check.id.starts_with("drills.") ? check.id.substr(7) : std::string();
    if (!picture_)
        return;
    for (std::size_t i = 0; i < picture_->drills.size(); ++i)
        if (picture_->drills[i].word.toStdString() == word)
            drillsTable_->selectRow(int(i));
}

// Reads anew only when a drill or a gate has changed: a training run that records changes nothing here.
void DrillsPage::load()
{
    if (!isVisible())
        return;
    const ProjectSnapshotPtr snapshot = context().project.snapshot();
    const GateInfo* gate = snapshot->gate("drills");
    QString key = qs(snapshot->info.folder) + QString::number(gate ? gate->judgedUnixMs : 0);
    for (const RunEntry& run : snapshot->runs)
        if (run.config.mode == "ddp")
            key += QLatin1Char(' ') + run.id() + QString::number(int(run.info.state));
    if (key == loaded_)
        return;
    loaded_ = key;
    jobs_.start([snapshot](const JobToken&) { return readDrills(snapshot); },
                [this](const DrillsPicturePtr& picture) { showPicture(picture); });
}

void DrillsPage::showPicture(const DrillsPicturePtr& picture)
{
    int row = drillsTable_->currentIndex().row();
    picture_ = picture;
    if (row < 0) { // one that has something to tell
        const auto told = std::find_if(picture->drills.begin(), picture->drills.end(),
                                       [](const DrillStory& story) { return !story.lanes.empty(); });
        row = told == picture->drills.end() ? 0 : int(told - picture->drills.begin());
    }
    drills_->setTable(tableOf(*picture));
    drillsTable_->setCurrentIndex(drills_->index(row, 0));
    showDrill(row);
    showTimeout();
    const DegradeStory& degrade = picture->degrade;
    degradePlot_->setVisible(!degrade.run.isEmpty());
    if (degrade.run.isEmpty()) {
        degradeText_->setText(
            tr("No run has lost ranks and gone on yet. Start one with --on-loss, or play the "
               "drill: the global batch and the order of the samples stay."));
    } else {
        QStringList worlds;
        for (const DegradeStory::Change& change : degrade.changes)
            worlds << tr("%n rank(s)", nullptr, change.world);
        degradeText_->setText(tr("%1: %2. Global batch %3 throughout.")
                                  .arg(degrade.run, worlds.join(QStringLiteral(", ")), degrade.batchTerm));
        feed_->setRuns(*context().project.snapshot(), {degrade.run});
    }
    drawDegrade();
}

void DrillsPage::showDrill(int row)
{
    const bool known = picture_ && row >= 0 && row < int(picture_->drills.size());
    const bool writable = context().project.isOpen() && !context().project.snapshot()->readOnly;
    play_->setEnabled(known && writable && picture_->drills[std::size_t(row)].state != State::Running);
    if (!known)
        return;
    const DrillStory& story = picture_->drills[std::size_t(row)];
    timelinePane_->setTitle(story.run.isEmpty() ? story.title : tr("%1: who noticed when").arg(story.title));
    timeline_->setStory(story);
    QStringList words;
    if (!story.sentence.isEmpty())
        words << story.sentence;
    if (story.survivors > 0)
        words << tr("%1 of %2 survivors name the rank; all had ended after %3, limit %4. Lost: %n step(s).",
                    nullptr, int(story.lostSteps))
                     .arg(story.survivorsNaming)
                     .arg(story.survivors)
                     .arg(secondsText(story.goneAfter), secondsText(story.limit));
    timelineSentence_->setText(words.join(QLatin1Char(' ')));
    timelineSentence_->setVisible(!words.isEmpty());
}

void DrillsPage::showTimeout()
{
    const TimeoutStory& story = picture_->timeout;
    while (QLayoutItem* item = terms_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    timeout_->setText(story.recommended);
    timeout_->setVisible(!story.recommended.isEmpty());
    timeoutFor_->setText(story.recommended.isEmpty()
                             ? QString()
                             : tr("for %n rank(s), now %1", nullptr, story.world).arg(story.current));
    timeoutFor_->setToolTip(story.run);
    int row = 0;
    for (const auto& [term, value] : story.terms) {
        terms_->addWidget(wrappedLabel("note", term, this), row, 0);
        QLabel* number = wrappedLabel("body", value, this);
        number->setAlignment(Qt::AlignRight | Qt::AlignTop);
        terms_->addWidget(number, row, 1);
        ++row;
    }
    timeoutSentence_->setText(!story.error.isEmpty() ? story.error
                              : story.run.isEmpty()
                                  ? tr("Finish one DDP run: its step times, its start and its "
                                       "checkpoints say how long a rank should wait.")
                                  : story.sentence);
}

void DrillsPage::drawDegrade()
{
    if (!picture_ || picture_->degrade.run.isEmpty())
        return;
    const DegradeStory& degrade = picture_->degrade;
    const RunEntry* run = context().project.snapshot()->run(degrade.run);
    if (!run)
        return;
    const PlotTheme theme = PlotTheme::forApplication();
    degradePlot_->setTheme(theme);
    CurvePicture curves = curvesOf({run}, *feed_, Quantity::Loss, RankDisplay::Mean, theme);
    for (CurveSeries& one : curves.series)
        one.endLabel.clear();
    degradePlot_->setSeries(std::move(curves.series));
    std::vector<CurveMarker> markers;
    for (std::size_t i = 1; i < degrade.changes.size(); ++i)
        markers.push_back({degrade.changes[i].step, tr("%n rank(s)", nullptr, degrade.changes[i].world),
                           CurveMarker::Kind::Event});
    degradePlot_->setMarkers(std::move(markers));
    degradePlot_->fit();
}

bool DrillsPage::busy() const
{
    return jobs_.busy() || feed_->busy();
}

void DrillsPage::changeEvent(QEvent* event)
{
    GatePage::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && degradePlot_)
        drawDegrade();
}

} // namespace lockstep
