#include "ui/pages/checkpoint_keys_view.h"

#include "ui/models/checkpoint_tree_model.h"
#include "ui/models/roles.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_tree.h"
#include "ui/widgets/icons.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace lockstep {

CheckpointKeysView::CheckpointKeysView(QWidget* parent)
    : QWidget(parent),
      model_(new CheckpointTreeModel(this)),
      filter_(new QSortFilterProxyModel(this)),
      edit_(new QLineEdit(this)),
      view_(new DataTree(this))
{
    filter_->setSourceModel(model_);
    filter_->setFilterRole(IdRole);
    filter_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    filter_->setRecursiveFilteringEnabled(true);
    edit_->setObjectName(QStringLiteral("keyFilter"));
    edit_->setPlaceholderText(tr("filter keys"));
    edit_->setAccessibleName(tr("Filter keys"));
    edit_->addAction(icon(QStringLiteral("filter"), Tone::Hint), QLineEdit::LeadingPosition);
    edit_->setClearButtonEnabled(true);
    edit_->setMaximumWidth(280);
    view_->setObjectName(QStringLiteral("checkpointTree"));
    view_->setAccessibleName(tr("Keys of the checkpoint"));
    view_->setProperty("typeAhead", true); // letters search here, they are no shortcuts
    view_->setModel(filter_);
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(16, 6, 16, 6);
    bar->addWidget(edit_, 1);
    bar->addStretch(1);
    bar->addWidget(label("hint", tr("typing a name goes to it, Ctrl+F filters"), this));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(bar);
    column->addWidget(horizontalLine(this));
    column->addWidget(view_, 1);
    makeActions();
    connect(edit_, &QLineEdit::textChanged, this, [this](const QString& text) {
        filter_->setFilterFixedString(text);
        if (text.isEmpty())
            expandShallow();
        else
            view_->expandAll();
    });
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& current) {
                Q_EMIT rowChosen(current.isValid() ? int(filter_->mapToSource(current).internalId()) : -1);
            });
}

const CheckpointTree* CheckpointKeysView::tree() const
{
    return model_->tree();
}

void CheckpointKeysView::setTree(const CheckpointTreePtr& tree)
{
    model_->setTree(tree);
    if (!tree)
        return;
    layoutColumns();
    expandShallow();
}

void CheckpointKeysView::addNumbers(const NumbersBatch& batch)
{
    model_->addNumbers(batch);
}

const std::vector<TensorNumbers>& CheckpointKeysView::numbers() const
{
    return model_->numbers();
}

void CheckpointKeysView::setMarkedPrefix(const QString& prefix)
{
    model_->setMarkedPrefix(prefix);
}

bool CheckpointKeysView::clearFilter()
{
    if (edit_->text().isEmpty())
        return false;
    edit_->clear();
    return true;
}

// The key takes what is left; where that is too little, columns go, the least deciding first.
void CheckpointKeysView::layoutColumns()
{
    using Model = CheckpointTreeModel;
    constexpr int kLeastKey = 220;
    constexpr std::pair<int, int> widths[] = {
        {Model::Kind, 84}, {Model::Shape, 112},   {Model::Elements, 100}, {Model::Norm, 88},
        {Model::Min, 84},  {Model::NanCount, 52}, {Model::ValueText, 96}};
    int left = view_->viewport()->width();
    for (const auto& [column, width] : widths) {
        view_->setColumnHidden(column, false);
        view_->setColumnWidth(column, width);
        left -= width;
    }
    for (const int column : {Model::Min, Model::Elements, Model::Norm, Model::NanCount}) {
        if (left >= kLeastKey)
            break;
        left += view_->columnWidth(column);
        view_->setColumnHidden(column, true);
    }
    view_->setColumnWidth(Model::Key, std::max(left, kLeastKey));
}

void CheckpointKeysView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (model_->tree())
        layoutColumns();
}

// The file and its first level; a large optimizer state stays folded.
void CheckpointKeysView::expandShallow()
{
    view_->collapseAll();
    for (int row = 0; row < filter_->rowCount(); ++row) {
        const QModelIndex root = filter_->index(row, 0);
        view_->expand(root);
        for (int child = 0; child < filter_->rowCount(root); ++child) {
            const QModelIndex index = filter_->index(child, 0, root);
            const QString name = index.data().toString();
            if (name == QLatin1String("model") || name == QLatin1String("state_dict") ||
                filter_->rowCount(root) == 1)
                view_->expandRecursively(index);
        }
    }
}

void CheckpointKeysView::makeActions()
{
    view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    view_->setContextMenuPolicy(Qt::ActionsContextMenu);
    auto* copy = new QAction(tr("Copy key names"), view_);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    connect(copy, &QAction::triggered, this, &CheckpointKeysView::copyKeys);
    auto* find = new QAction(tr("Filter keys"), this);
    find->setShortcut(QKeySequence::Find);
    find->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QAction::triggered, edit_, [this] { edit_->setFocus(); });
    addAction(find);
    view_->addActions({copy, find});
}

// One name a line, as the state dict has them.
void CheckpointKeysView::copyKeys()
{
    QStringList names;
    for (const QModelIndex& index : view_->selectionModel()->selectedRows())
        names << keyName(*model_->tree(), model_->row(filter_->mapToSource(index)));
    if (!names.isEmpty())
        QGuiApplication::clipboard()->setText(names.join(QLatin1Char('\n')));
}

} // namespace lockstep
