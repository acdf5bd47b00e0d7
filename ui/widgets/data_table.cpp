#include "ui/widgets/data_table.h"

#include "ui/models/roles.h"
#include "ui/widgets/cell_delegate.h"
#include "ui/widgets/theme.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QTimer>

#include <algorithm>
#include <cstdint>

namespace lockstep {

namespace {

// Headers aligned as the column they stand over.
class AlignedHeader : public QHeaderView
{
public:
    using QHeaderView::QHeaderView;

protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override
    {
        QHeaderView::initStyleOptionForIndex(option, section);
        option->textAlignment = Qt::AlignLeft | Qt::AlignVCenter;
        if (!model() || model()->rowCount() == 0)
            return;
        const QVariant align = model()->index(0, section).data(Qt::TextAlignmentRole);
        if (align.isValid())
            option->textAlignment = Qt::Alignment(align.toInt());
    }
};

constexpr int kRowsMeasured = 200;
constexpr int kLongText = 150; // what a column of long texts keeps at least

} // namespace

DataTable::DataTable(QWidget* parent, int rowHeight) : QTableView(parent), rowHeight_(rowHeight)
{
    setItemDelegate(new CellDelegate(rowHeight, this));
    setHorizontalHeader(new AlignedHeader(Qt::Horizontal, this));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSectionsClickable(true);
    horizontalHeader()->setFixedHeight(24);
    horizontalHeader()->setFont(theme::font(12, true));
    horizontalHeader()->setTextElideMode(Qt::ElideRight);
    horizontalHeader()->setMinimumSectionSize(20);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(rowHeight);
    verticalHeader()->setMinimumSectionSize(rowHeight);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setTabKeyNavigation(false);
    setMouseTracking(true);
    setWordWrap(false);
}

void DataTable::setModel(QAbstractItemModel* model)
{
    QTableView::setModel(model);
    widths_.clear();
    if (!model)
        return;
    connect(model, &QAbstractItemModel::rowsInserted, this, &DataTable::scheduleLayout);
    connect(model, &QAbstractItemModel::rowsRemoved, this, &DataTable::scheduleLayout);
    connect(model, &QAbstractItemModel::modelReset, this, [this] {
        widths_.clear();
        scheduleLayout();
    });
    connect(model, &QAbstractItemModel::dataChanged, this, &DataTable::scheduleLayout);
    connect(model, &QAbstractItemModel::headerDataChanged, this, &DataTable::scheduleLayout);
    scheduleLayout();
}

void DataTable::setColumnPlan(int stretch, std::vector<int> dropOrder)
{
    stretch_ = stretch;
    dropOrder_ = std::move(dropOrder);
    layoutColumns();
}

void DataTable::setLongTexts(std::vector<int> columns, int stretchMinimum)
{
    long_ = std::move(columns);
    stretchMinimum_ = stretchMinimum;
    setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    layoutColumns();
}

void DataTable::setHiddenColumns(std::vector<int> columns)
{
    hidden_ = std::move(columns);
    layoutColumns();
}

void DataTable::setFixedRows(int rows)
{
    fixedRows_ = rows;
    static_cast<CellDelegate*>(itemDelegate())->setLastLine(false); // the frame around it is the line
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    updateGeometry();
}

QSize DataTable::sizeHint() const
{
    const int rows = model() ? model()->rowCount() : 0;
    const int shown = fixedRows_ >= 0 ? std::min(rows, fixedRows_) : std::max(rows, 3);
    return {400, horizontalHeader()->height() + shown * rowHeight_};
}

QSize DataTable::minimumSizeHint() const
{
    return fixedRows_ >= 0 ? QSize(160, sizeHint().height())
                           : QSize(160, horizontalHeader()->height() + 2 * rowHeight_);
}

// Many rows change in one turn of the event loop; measuring once is enough.
void DataTable::scheduleLayout()
{
    if (scheduled_)
        return;
    scheduled_ = true;
    QTimer::singleShot(0, this, [this] {
        scheduled_ = false;
        layoutColumns();
        updateGeometry();
    });
}

void DataTable::layoutColumns()
{
    if (!model() || model()->columnCount() == 0)
        return;
    const int columns = model()->columnCount();
    widths_.resize(std::size_t(columns), 0);
    const QFontMetrics head(theme::font(12, true));
    const int rows = std::min(model()->rowCount(), kRowsMeasured);
    std::vector<bool> filled(std::size_t(columns), rows == 0);
    for (int c = 0; c < columns; ++c) {
        int& width = widths_[std::size_t(c)];
        width =
            std::max(width, head.horizontalAdvance(model()->headerData(c, Qt::Horizontal).toString()) + 26);
        for (int r = 0; r < rows; ++r) {
            const QModelIndex cell = model()->index(r, c);
            width = std::max(width, CellDelegate::textWidth(cell, rowHeight_));
            filled[std::size_t(c)] = filled[std::size_t(c)] || !cell.data().toString().isEmpty();
        }
    }
    std::vector<bool> shown(std::size_t(columns), true);
    for (const int column : hidden_)
        shown[std::size_t(column)] = false;
    for (const int column : dropOrder_)
        shown[std::size_t(column)] = shown[std::size_t(column)] && filled[std::size_t(column)];
    std::vector<int> widths = widths_;
    const auto total = [&] {
        int sum = 0;
        for (int c = 0; c < columns; ++c)
            if (shown[std::size_t(c)])
                sum += c == stretch_ ? std::min(widths[std::size_t(c)], std::max(160, stretchMinimum_))
                                     : widths[std::size_t(c)];
        return sum;
    };
    const int available = viewport()->width();
    if (const int missing = total() - available; missing > 0) { // the longest gives most
        int spare = 0;
        for (const int column : long_)
            spare += column == stretch_ ? 0 : std::max(widths[std::size_t(column)] - kLongText, 0);
        for (const int column : long_) { // rounded up: a pixel too much would drop a column
            int& width = widths[std::size_t(column)];
            if (column != stretch_ && width > kLongText)
                width -=
                    int((std::int64_t(width - kLongText) * std::min(missing, spare) + spare - 1) / spare);
        }
    }
    for (const int column : dropOrder_) {
        if (total() <= available)
            break;
        shown[std::size_t(column)] = false;
    }
    int used = 0;
    int visible = 0;
    for (int c = 0; c < columns; ++c) {
        setColumnHidden(c, !shown[std::size_t(c)]);
        if (shown[std::size_t(c)] && c != stretch_) {
            used += widths[std::size_t(c)];
            ++visible;
        }
    }
    // What is left: first the stretch column's own need, then a little air for every column.
    const int left = available - used;
    const int need = stretch_ >= 0 ? widths[std::size_t(stretch_)] : 0;
    const int air = visible > 0 ? std::clamp((left - need) / (visible + 3), 0, 36) : 0;
    int given = 0;
    for (int c = 0; c < columns; ++c) {
        if (!shown[std::size_t(c)] || c == stretch_)
            continue;
        const int width = widths[std::size_t(c)] + air;
        setColumnWidth(c, width);
        given += width;
    }
    if (stretch_ >= 0)
        setColumnWidth(stretch_, std::max(available - given, stretchMinimum_));
}

QString DataTable::currentId() const
{
    return currentIndex().data(IdRole).toString();
}

void DataTable::selectId(const QString& id)
{
    if (!model() || id == currentId())
        return;
    for (int row = 0; row < model()->rowCount(); ++row) {
        if (model()->index(row, 0).data(IdRole).toString() != id)
            continue;
        for (int column = 0; column < model()->columnCount(); ++column) {
            if (isColumnHidden(column))
                continue;
            setCurrentIndex(model()->index(row, column));
            return;
        }
    }
}

void DataTable::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    layoutColumns();
}

void DataTable::paintEvent(QPaintEvent* event)
{
    QTableView::paintEvent(event);
    if (emptyText_.isEmpty() || !model() || model()->rowCount() > 0)
        return;
    QPainter painter(viewport());
    painter.setFont(theme::font(13));
    painter.setPen(theme::tokens().ink2);
    painter.drawText(viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap, emptyText_);
}

void DataTable::keyPressEvent(QKeyEvent* event)
{
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid()) {
        Q_EMIT activatedId(currentId());
        return;
    }
    QTableView::keyPressEvent(event);
}

void DataTable::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTableView::currentChanged(current, previous);
    if (current.data(IdRole) != previous.data(IdRole))
        Q_EMIT currentIdChanged(current.data(IdRole).toString());
}

} // namespace lockstep
