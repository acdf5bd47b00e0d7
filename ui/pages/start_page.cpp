#include "ui/pages/start_page.h"

#include "ui/models/format.h"
#include "ui/models/roles.h"
#include "ui/models/workloads_model.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/icons.h"

#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QScrollArea>
#include <QVBoxLayout>

namespace lockstep {

namespace {

// A folder that is not there yet, below the working directory, or below home where that cannot be written.
QString newFolder(const QString& name)
{
    const QString base = QFileInfo(QDir::currentPath()).isWritable() ? QDir::currentPath() : QDir::homePath();
    const QString first = base + QLatin1Char('/') + name;
    QString folder = first;
    for (int n = 2; QFileInfo::exists(folder); ++n)
        folder = QStringLiteral("%1-%2").arg(first).arg(n);
    return folder;
}

} // namespace

StartPage::StartPage(RunCommands& commands, WorkloadsModel& workloads, QWidget* parent)
    : QWidget(parent), commands_(commands), workloads_(workloads), banner_(new Banner(this))
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    auto* body = new QWidget(this);
    body->setObjectName(QStringLiteral("scrollBody"));
    auto* center = new QHBoxLayout(body);
    center->setContentsMargins(24, 0, 24, 24);
    auto* box = new QWidget(body);
    box->setMaximumWidth(960);
    box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    center->addStretch(1);
    center->addWidget(box, 100);
    center->addStretch(1);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 56, 0, 0);
    column->setSpacing(0);
    column->addWidget(label("hero", tr("Move a training from one process to many, gate by gate"), box));
    column->addSpacing(4);
    column->addWidget(
        label("secondary",
              tr("Lockstep runs both, records every step, and names the first step where they part and why."),
              box));
    column->addSpacing(20);
    column->addWidget(banner_);
    column->addWidget(makeDropZone());
    column->addSpacing(20);
    auto* halves = new QHBoxLayout;
    halves->setSpacing(16);
    halves->addWidget(makeWorkloads(), 1);
    halves->addWidget(makeScript(), 1);
    column->addLayout(halves);
    column->addSpacing(20);
    facts_ = new QWidget(box);
    auto* facts = new QHBoxLayout(facts_);
    facts->setContentsMargins(0, 0, 0, 0);
    facts->setSpacing(18);
    column->addWidget(facts_);
    column->addSpacing(20);
    column->addWidget(label("paneTitle", tr("Recent projects"), box));
    column->addSpacing(4);
    recent_ = new QVBoxLayout;
    recent_->setSpacing(0);
    column->addLayout(recent_);
    column->addStretch(1);

    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(body);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(scroll);
    setRecentProjects({});
}

QWidget* StartPage::makeDropZone()
{
    auto* zone = new QFrame(this);
    zone->setObjectName(QStringLiteral("dropZone"));
    auto* column = new QVBoxLayout(zone);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(10);
    auto* picture = new QLabel(zone);
    picture->setPixmap(icon(QStringLiteral("download"), Tone::Accent).pixmap(26, 26));
    column->addWidget(picture, 0, Qt::AlignHCenter);
    column->addWidget(label("finding", tr("Drop a project folder or a checkpoint"), zone), 0,
                      Qt::AlignHCenter);
    auto* what = new QGridLayout;
    what->setHorizontalSpacing(12);
    what->setVerticalSpacing(2);
    const std::pair<QString, QString> kinds[] = {
        {tr("project"), tr("folder with lockstep.db, also read-only")},
        {tr("checkpoint"), tr(".pt, .pth or .safetensors; nothing in it is executed")},
    };
    for (int i = 0; i < int(std::size(kinds)); ++i) {
        what->addWidget(label("section", kinds[i].first, zone), i, 0, Qt::AlignRight);
        what->addWidget(label("note", kinds[i].second, zone), i, 1);
    }
    auto* middle = new QHBoxLayout;
    middle->addStretch(1);
    middle->addLayout(what);
    middle->addStretch(1);
    column->addLayout(middle);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    open_ = button(tr("Open folder") + QStringLiteral("   Ctrl+O"), QStringLiteral("folder"), zone);
    buttons->addStretch(1);
    buttons->addWidget(open_);
    buttons->addStretch(1);
    column->addLayout(buttons);
    connect(open_, &QPushButton::clicked, this, &StartPage::openRequested);
    return zone;
}

QWidget* StartPage::makeWorkloads()
{
    auto* pane = new Pane(tr("Start with a built-in workload"), this);
    auto* note = label(
        "note", tr("No script and no GPU needed: one process against several ranks on this machine."), pane);
    note->setContentsMargins(12, 8, 12, 8);
    pane->addWidget(note);
    table_ = new DataTable(pane, 44);
    table_->setModel(&workloads_);
    table_->setColumnPlan(WorkloadsModel::Shows, {});
    table_->setFixedRows(3);
    table_->setAccessibleName(tr("Workloads"));
    pane->addWidget(table_);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 10, 12, 12);
    row->setSpacing(8);
    start_ = primaryButton({}, QStringLiteral("play"), pane);
    start_->setObjectName(QStringLiteral("startWorkload"));
    ranks_ = new QComboBox(pane);
    ranks_->addItems({QStringLiteral("2"), QStringLiteral("3"), QStringLiteral("4"), QStringLiteral("8")});
    auto* ranksLabel = label("secondary", tr("ranks"), pane);
    ranksLabel->setBuddy(ranks_);
    row->addWidget(start_);
    row->addSpacing(8);
    row->addWidget(ranksLabel);
    row->addWidget(ranks_);
    folder_ = new QLineEdit(pane);
    folder_->setObjectName(QStringLiteral("startFolder"));
    folder_->setAccessibleName(tr("Folder of the new project"));
    auto* folderLabel = label("secondary", tr("folder"), pane);
    folderLabel->setBuddy(folder_);
    row->addStretch(1);
    auto* place = new QHBoxLayout;
    place->setContentsMargins(12, 10, 12, 0);
    place->setSpacing(8);
    place->addWidget(folderLabel);
    place->addWidget(folder_, 1);
    pane->body()->addStretch(1);
    pane->body()->addLayout(place);
    pane->body()->addLayout(row);
    connect(table_, &DataTable::currentIdChanged, this, [this] { suggestFolder(); });
    connect(ranks_, &QComboBox::currentTextChanged, this, &StartPage::suggestFolder);
    const auto start = [this] {
        Q_EMIT startRequested(table_->currentId(), folder_->text(), ranks_->currentText().toInt());
    };
    connect(start_, &QPushButton::clicked, this, start);
    connect(table_, &DataTable::activatedId, this, start);
    table_->setCurrentIndex(workloads_.index(0, 0));
    suggestFolder();
    return pane;
}

void StartPage::suggestFolder()
{
    const QString workload = table_->currentId();
    start_->setText(tr("Start %1").arg(workload));
    folder_->setText(newFolder(QStringLiteral("%1-%2rank").arg(workload, ranks_->currentText())));
}

QWidget* StartPage::makeScript()
{
    auto* pane = new Pane(tr("Your own script, or from a terminal"), this);
    auto* column = new QVBoxLayout;
    column->setContentsMargins(12, 10, 12, 12);
    column->setSpacing(6);
    auto* script = button(tr("Use my script"), QStringLiteral("play"), pane);
    script->setObjectName(QStringLiteral("startScriptProject"));
    connect(script, &QPushButton::clicked, this,
            [this] { Q_EMIT scriptRequested(newFolder(QStringLiteral("my-migration"))); });
    column->addWidget(wrappedLabel(
        "note",
        tr("Your training script runs as it is: one process, then several ranks. Makes a project %1.")
            .arg(formatFolder(newFolder(QStringLiteral("my-migration")))),
        pane));
    column->addWidget(script, 0, Qt::AlignLeft);
    column->addSpacing(4);
    column->addWidget(
        wrappedLabel("note", tr("Runs started in a terminal show up live in an open project."), pane));
    const std::pair<QString, QString> steps[] = {
        {tr("A new project"), QStringLiteral("lockstep-cli init my-migration")},
        {tr("One process"), QStringLiteral("lockstep-cli run my-migration --align-world 2")},
        {tr("Two ranks"), QStringLiteral("lockstep-cli run my-migration --mode ddp --world 2")},
    };
    for (const auto& [title, code] : steps) {
        column->addWidget(label("section", title, pane));
        auto* block = new CodeBlock(pane);
        block->setCode(code);
        column->addWidget(block);
    }
    column->addStretch(1);
    pane->body()->addLayout(column);
    return pane;
}

void StartPage::setRecentProjects(const QStringList& folders)
{
    while (QLayoutItem* item = recent_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    if (folders.isEmpty())
        recent_->addWidget(label("secondary", tr("None yet. Projects you open are listed here."), this));
    for (const QString& folder : folders) {
        auto* link =
            linkButton(QFileInfo(folder).fileName() + QStringLiteral("   ") + formatFolder(folder), this);
        connect(link, &QPushButton::clicked, this, [this, folder] { Q_EMIT openFolderRequested(folder); });
        recent_->addWidget(link, 0, Qt::AlignLeft);
    }
}

void StartPage::setEnvironment(const QList<std::pair<bool, QString>>& facts)
{
    auto* row = static_cast<QHBoxLayout*>(facts_->layout());
    while (QLayoutItem* item = row->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const auto& [offered, text] : facts) {
        auto* shape = new QLabel(facts_);
        shape->setPixmap(stateIcon(offered ? State::Holds : State::Off).pixmap(12, 12));
        auto* one = new QWidget(facts_);
        auto* line = new QHBoxLayout(one);
        line->setContentsMargins(0, 0, 0, 0);
        line->setSpacing(6);
        line->addWidget(shape);
        line->addWidget(label(offered ? "note" : "hint", text, one));
        row->addWidget(one);
    }
    row->addStretch(1);
}

void StartPage::showError(const QString& sentence)
{
    if (sentence.isEmpty())
        banner_->clear();
    else
        banner_->showMessage(State::Failed, sentence);
}

void StartPage::focusFirst()
{
    open_->setFocus();
}

} // namespace lockstep
