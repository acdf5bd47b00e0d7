#include "ui/models/checkpoint_diff_model.h"

#include "core/ckpt/diff.h"
#include "core/ckpt/open.h"
#include "core/ckpt/walk.h"
#include "ui/models/checkpoint_numbers.h"
#include "ui/models/format.h"
#include "ui/models/roles.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::CheckpointDiff)
};

constexpr double kFirst = std::numeric_limits<double>::infinity();

double magnitude(const ElementStats& stats)
{
    return std::max(std::abs(toDouble(stats.min)), std::abs(toDouble(stats.max)));
}

void addValues(const KeyDiff& diff, CheckpointDiffRow& row)
{
    const ElementDiff& e = diff.elements;
    const double largest = toDouble(e.maxAbs); // NaN: no pair of finite elements
    if (!std::isnan(largest)) {
        row.maxAbs = largest == 0 ? QStringLiteral("0") : QString::number(largest, 'e', 1);
        row.maxAbsExact = formatExact(largest);
        const double size = magnitude(e.a);
        if (largest > 0 && size > 0)
            row.relative = QString::number(largest / size, 'e', 1);
        row.order = largest;
    }
    row.differ = Tr::tr("%1 of %2")
                     .arg(formatCount(std::int64_t(e.valuesDiffer)), formatCount(std::int64_t(e.a.elements)));
    if (e.nonfiniteMismatch > 0) {
        row.differ += Tr::tr(", %1 not finite").arg(formatCount(std::int64_t(e.nonfiniteMismatch)));
        row.order = kFirst;
    }
    if (diff.status == DiffStatus::Bits)
        row.differ = Tr::tr("equal values, %1 other bits").arg(formatCount(std::int64_t(e.bitsDiffer)));
}

CheckpointDiffRow rowOf(const KeyDiff& diff)
{
    CheckpointDiffRow row;
    const bool onlyB = !diff.keyA;
    row.key = qs(shownName(onlyB ? diff.keyB.value_or(std::string()) : *diff.keyA));
    const QString typeA = qs(std::string(dtypeInfo(diff.typeA).name));
    const QString typeB = qs(std::string(dtypeInfo(diff.typeB).name));
    const bool both = diff.keyA && diff.keyB;
    row.type = both && diff.typeA != diff.typeB ? typeA + QStringLiteral(" / ") + typeB
               : onlyB                          ? typeB
                                                : typeA;
    row.shape = both && diff.shapeA != diff.shapeB
                    ? formatShape(diff.shapeA) + QStringLiteral(" / ") + formatShape(diff.shapeB)
                    : formatShape(onlyB ? diff.shapeB : diff.shapeA);
    row.equal = diff.status == DiffStatus::Equal;
    row.order = row.equal ? -1 : kFirst;
    switch (diff.status) {
    case DiffStatus::OnlyA:
        row.differ = Tr::tr("only in A");
        break;
    case DiffStatus::OnlyB:
        row.differ = Tr::tr("only in B");
        break;
    case DiffStatus::Shape:
        row.differ = Tr::tr("shapes differ");
        break;
    case DiffStatus::Transposed:
        row.differ = Tr::tr("B is A transposed");
        break;
    case DiffStatus::Unreadable:
        row.differ = qs(printable(diff.problem));
        break;
    case DiffStatus::Equal:
        row.differ = Tr::tr("equal in every bit");
        break;
    default:
        row.order = 0;
        addValues(diff, row);
    }
    return row;
}

QString mappingText(const KeyMapping& mapping)
{
    QStringList parts;
    if (const std::string prefix = shownPrefix(mapping.prefixA); !prefix.empty())
        parts << Tr::tr("%1 stripped from A").arg(qs(prefix));
    if (const std::string prefix = shownPrefix(mapping.prefixB); !prefix.empty())
        parts << Tr::tr("%1 stripped from B").arg(qs(prefix));
    for (const std::string& segment : mapping.drop)
        parts << Tr::tr("%1 left out of names").arg(qs(printable(segment)));
    return parts.join(QStringLiteral(", "));
}

} // namespace

CheckpointComparisonPtr compareCheckpoints(const QString& pathA, const QString& pathB)
{
    auto out = std::make_shared<CheckpointComparison>();
    out->pathA = pathA;
    out->pathB = pathB;
    const Result<Checkpoint> a = openCheckpoint(pathA.toStdString());
    const Result<Checkpoint> b = openCheckpoint(pathB.toStdString());
    if (!a || !b) {
        out->error = qs((a ? b : a).error().sentence());
        return out;
    }
    const CheckpointDiff diff = diffCheckpoints(*a, *b);
    out->mapping = mappingText(diff.mapping);
    for (const KeyDiff& key : diff.keys) {
        out->onlyA += key.status == DiffStatus::OnlyA;
        out->onlyB += key.status == DiffStatus::OnlyB;
        out->matched += key.keyA && key.keyB;
        out->equal += key.status == DiffStatus::Equal;
        out->rows.push_back(rowOf(key));
    }
    std::stable_sort(
        out->rows.begin(), out->rows.end(),
        [](const CheckpointDiffRow& x, const CheckpointDiffRow& y) { return x.order > y.order; });
    return out;
}

void CheckpointDiffModel::setComparison(CheckpointComparisonPtr comparison)
{
    beginResetModel();
    comparison_ = std::move(comparison);
    collect();
    endResetModel();
}

void CheckpointDiffModel::setDifferingOnly(bool differingOnly)
{
    beginResetModel();
    differingOnly_ = differingOnly;
    collect();
    endResetModel();
}

void CheckpointDiffModel::collect()
{
    shown_.clear();
    if (!comparison_)
        return;
    for (std::size_t i = 0; i < comparison_->rows.size(); ++i)
        if (!differingOnly_ || !comparison_->rows[i].equal)
            shown_.push_back(i);
}

int CheckpointDiffModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(shown_.size());
}

int CheckpointDiffModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CheckpointDiffModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const CheckpointDiffRow& row = comparison_->rows[shown_[std::size_t(index.row())]];
    const QString cells[ColumnCount] = {row.key, row.type, row.shape, row.maxAbs, row.relative, row.differ};
    switch (role) {
    case Qt::DisplayRole:
        return cells[index.column()];
    case Qt::ToolTipRole:
        return index.column() == MaxAbs ? row.maxAbsExact : cells[index.column()];
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (index.column() >= Shape ? Qt::AlignRight : Qt::AlignLeft));
    case EmphasisRole:
        return index.column() == MaxAbs && !row.equal;
    case ToneRole:
        return int(index.column() == Kind || index.column() == Shape || row.equal ? Tone::Secondary
                                                                                  : Tone::Normal);
    case IdRole:
        return row.key;
    default:
        return {};
    }
}

QVariant CheckpointDiffModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= ColumnCount)
        return QAbstractTableModel::headerData(section, orientation, role);
    const QString heads[ColumnCount] = {tr("key"),         tr("dtype"),    tr("shape"),
                                        tr("max |A - B|"), tr("relative"), tr("elements that differ")};
    return heads[section];
}

} // namespace lockstep
