#include "ui/pages/script_runs_view.h"

#include "ui/models/project_model.h"
#include "ui/models/runs_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/run_strip.h"

namespace lockstep {

ScriptRunsView::ScriptRunsView(const PageContext& context, QWidget* parent)
    : QWidget(parent), context_(context), strip_(new RunStrip(this))
{
    strip_->setObjectName(QStringLiteral("scriptRuns"));
    strip_->setAccessibleName(tr("Runs of the script"));
    curves_ = button(tr("Open in Curves"), QStringLiteral("curves"), this);
    curves_->setObjectName(QStringLiteral("scriptCurves"));
    findings_ = button(tr("Find causes"), QStringLiteral("findings"), this);
    findings_->setObjectName(QStringLiteral("scriptFindings"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(curves_);
    buttons->addWidget(findings_);
    buttons->addStretch(1);
    column->addWidget(strip_);
    column->addLayout(buttons);
    for (const auto& [way, page] : {std::pair{curves_, "curves"}, std::pair{findings_, "findings"}})
        connect(way, &QPushButton::clicked, this, [this, page] {
            context_.selection.setRuns(chosen_.value(0), chosen_.value(1));
            Q_EMIT openRequested(QLatin1String(page), {});
        });
    connect(&context.commands, &RunCommands::runStarted, this, [this](const QString& id) {
        begun_ << id;
        refresh();
    });
    connect(&context.commands, &RunCommands::failed, this, [this](const QString& command) {
        gaveUp_ = gaveUp_ || command == QLatin1String("probe");
        refresh();
    });
    connect(&context.project, &ProjectModel::changed, this, &ScriptRunsView::refresh);
    connect(&context.project, &ProjectModel::closed, this, [this] { follow({}); });
    follow({});
}

void ScriptRunsView::follow(const QList<ScriptRun>& scripts)
{
    followed_.clear();
    begun_.clear();
    chosen_.clear();
    gaveUp_ = false;
    for (const ScriptRun& script : scripts)
        followed_ << Followed{script, {}};
    setVisible(!followed_.isEmpty());
    refresh();
}

void ScriptRunsView::refresh()
{
    const ProjectSnapshotPtr snapshot = context_.project.snapshot();
    std::vector<RunStrip::Item> items;
    QStringList ids;
    bool finished = true, steps = false;
    for (Followed& one : followed_) {
        // Other runs may begin at the same time: ours is the one with our command.
        for (const QString& id : std::as_const(begun_)) {
            const RunEntry* run = snapshot->run(id);
            if (one.id.isEmpty() && run && run->command && run->command->words == one.script.command.words &&
                !ids.contains(id))
                one.id = id;
        }
        const RunEntry* run = snapshot->run(one.id);
        const ScriptCommand& command = one.script.command;
        RunStrip::Item item;
        item.title = run           ? run->name()
                     : command.ddp ? tr("%n rank(s)", nullptr, command.world)
                                   : tr("one process");
        item.detail = gaveUp_ ? tr("not started") : tr("waiting");
        if (run) {
            ids << one.id;
            item.state = runState(*run, nullptr);
            item.detail =
                run->info.lastStep >= 0 ? tr("step %1").arg(run->info.lastStep) : runStateText(*run, nullptr);
            if (!run->running())
                item.progress = 1;
            else if (run->config.steps > 0)
                item.progress = double(run->info.lastStep) / double(run->config.steps);
            steps = steps || run->info.lastStep > 0;
        }
        finished = finished && run && run->info.state == RunState::Finished;
        items.push_back(item);
    }
    strip_->setItems(std::move(items));
    // Drawn as they train, the one process as the reference.
    if (!ids.isEmpty() && ids != chosen_) {
        context_.selection.setExtraRuns({});
        context_.selection.setRuns(ids.value(0), ids.value(1));
        chosen_ = ids;
    }
    curves_->setEnabled(steps);
    findings_->setEnabled(finished && ids.size() == 2);
}

} // namespace lockstep
