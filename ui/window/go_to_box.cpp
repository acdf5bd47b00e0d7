#include "ui/window/go_to_box.h"

#include "ui/models/format.h"
#include "ui/models/roles.h"
#include "ui/widgets/icons.h"
#include "ui/window/page_registry.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QRegularExpression>
#include <QStandardItemModel>

namespace lockstep {

namespace {

constexpr int kArgumentRole = IdRole + 50;

} // namespace

GoToBox::GoToBox(QWidget* parent) : QLineEdit(parent), targets_(new QStandardItemModel(this))
{
    setPlaceholderText(tr("Go to page, run or step   Ctrl+K"));
    setAccessibleName(tr("Go to page, run or step"));
    addAction(icon(QStringLiteral("search"), Tone::Hint), QLineEdit::LeadingPosition);
    setFixedWidth(280);
    auto* completer = new QCompleter(targets_, this);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->setFilterMode(Qt::MatchContains);
    setCompleter(completer);
    connect(completer, qOverload<const QModelIndex&>(&QCompleter::activated), this,
            [this](const QModelIndex& index) {
                Q_EMIT chosen(index.data(IdRole).toString(), index.data(kArgumentRole).toString());
                clear();
            });
    connect(this, &QLineEdit::returnPressed, this, [this] { go(text()); });
    setSnapshot({});
}

void GoToBox::setSnapshot(const ProjectSnapshot& snapshot)
{
    QString known;
    for (const RunEntry& run : snapshot.runs)
        known += run.id() + QLatin1Char('\n');
    if (known == known_ && targets_->rowCount() > 0)
        return;
    known_ = known;
    targets_->clear();
    const auto add = [this](const QString& text, const QString& page, const QString& argument) {
        auto* item = new QStandardItem(text);
        item->setData(page, IdRole);
        item->setData(argument, kArgumentRole);
        targets_->appendRow(item);
    };
    for (const PageEntry& entry : pageEntries())
        add(pageTitle(entry), QString::fromLatin1(entry.id), {});
    for (const RunEntry& run : snapshot.runs)
        add(tr("run %1").arg(run.name()), QStringLiteral("curves"), QStringLiteral("run:") + run.id());
}

// Typed in full: "step 41", "41", or the beginning of a target.
void GoToBox::go(const QString& text)
{
    static const QRegularExpression step(QStringLiteral("^\\s*(?:step\\s+)?(\\d+)\\s*$"),
                                         QRegularExpression::CaseInsensitiveOption);
    const QRegularExpressionMatch match = step.match(text);
    if (match.hasMatch()) {
        Q_EMIT chosen(QStringLiteral("curves"), QStringLiteral("step:") + match.captured(1));
        clear();
        return;
    }
    for (int row = 0; row < targets_->rowCount(); ++row) {
        const QStandardItem* item = targets_->item(row);
        if (text.isEmpty() || !item->text().contains(text, Qt::CaseInsensitive))
            continue;
        Q_EMIT chosen(item->data(IdRole).toString(), item->data(kArgumentRole).toString());
        clear();
        return;
    }
}

} // namespace lockstep
