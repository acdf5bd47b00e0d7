#include "ui/models/ranks_cell_model.h"

#include "core/base/records.h"
#include "core/store/run_reader.h"
#include "ui/models/format.h"
#include "ui/models/quantity_text.h"
#include "ui/models/roles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace lockstep {

namespace {

constexpr std::array kQuantities = {
    Quantity::Loss,     Quantity::GradNormLocal, Quantity::GradNorm,         Quantity::UpdateNorm,
    Quantity::TimeStep, Quantity::TimeData,      Quantity::TimeForward,      Quantity::TimeBackward,
    Quantity::TimeWait, Quantity::TimeOptimizer, Quantity::ParamFingerprint, Quantity::SampleIds,
};

bool isTime(Quantity quantity)
{
    return quantity >= Quantity::TimeData && quantity <= Quantity::TimeStep;
}

bool isFingerprint(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info && info->type == ValueType::U64;
}

double numberOf(Quantity quantity, std::uint64_t bits)
{
    const QuantityInfo* info = quantityInfo(quantity);
    return info && info->type == ValueType::I64 ? double(std::int64_t(bits)) : doubleOf(bits);
}

QString shortNumber(Quantity quantity, double value)
{
    if (isTime(quantity))
        return QString::number(value * 1000, 'f', 2);
    return formatLoss(value, false);
}

double medianOf(std::vector<double> values)
{
    if (values.empty())
        return std::nan("");
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

} // namespace

struct RanksCellModel::Source {
    std::optional<RunReader> reader;
};

struct RanksCellModel::Answer {
    std::vector<RankCellRow> rows;
    QString error;
    bool outdated = false;
};

RanksCellModel::RanksCellModel(QObject* parent) : QAbstractTableModel(parent)
{
}

void RanksCellModel::setCell(const RankCell& cell)
{
    if (any_ && cell == cell_)
        return;
    if (!source_ || cell.folder != cell_.folder)
        source_ = std::make_shared<Source>();
    cell_ = cell;
    any_ = true;
    jobs_.start(
        [cell, source = source_](const JobToken& token) {
            Answer answer;
            if (!source->reader) {
                Result<RunReader> opened = RunReader::open(cell.folder.toStdString());
                if (!opened) {
                    answer.error = qs(opened.error().sentence());
                    return answer;
                }
                source->reader.emplace(std::move(opened).value());
            }
            for (const Quantity quantity : kQuantities) {
                RankCellRow row{quantity, false, 0, 0, 0, 0};
                std::vector<std::uint64_t> all;
                std::vector<double> finite;
                for (int rank = 0; rank < cell.ranks; ++rank) {
                    if (!token.current()) {
                        answer.outdated = true;
                        return answer;
                    }
                    const Result<SeriesData> data =
                        source->reader->read({rank, quantity, 0}, cell.step, cell.step + 1);
                    if (!data) {
                        answer.error = qs(data.error().sentence());
                        return answer;
                    }
                    if (data->size() == 0)
                        continue;
                    all.push_back(data->bits[0]);
                    const double value = numberOf(quantity, data->bits[0]);
                    if (std::isfinite(value))
                        finite.push_back(value);
                    if (rank == cell.rank) {
                        row.present = true;
                        row.bits = data->bits[0];
                    }
                }
                if (all.empty())
                    continue;
                row.recorded = int(all.size());
                row.equal = row.present ? int(std::count(all.begin(), all.end(), row.bits)) : 0;
                row.median = medianOf(std::move(finite));
                answer.rows.push_back(row);
            }
            return answer;
        },
        [this](Answer answer) {
            if (answer.outdated)
                return;
            if (!answer.error.isEmpty()) {
                any_ = false; // asked again with the next cell
                Q_EMIT problem(answer.error);
            }
            if (answer.rows.size() == rows_.size() && !rows_.empty()) {
                rows_ = std::move(answer.rows);
                Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
            } else {
                beginResetModel();
                rows_ = std::move(answer.rows);
                endResetModel();
            }
            Q_EMIT headerDataChanged(Qt::Horizontal, Value, Others);
        });
}

void RanksCellModel::clear()
{
    jobs_.cancel();
    any_ = false;
    source_.reset();
    if (rows_.empty())
        return;
    beginResetModel();
    rows_.clear();
    endResetModel();
}

int RanksCellModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(rows_.size());
}

int RanksCellModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString RanksCellModel::text(const RankCellRow& row, int column) const
{
    switch (column) {
    case What: // short: the panel is narrow; the tooltip has the full title
        switch (row.quantity) {
        case Quantity::GradNormLocal:
            return tr("gradient norm, local");
        case Quantity::GradNorm:
            return tr("gradient norm, reduced");
        case Quantity::TimeData:
            return tr("data, ms");
        case Quantity::TimeForward:
            return tr("forward, ms");
        case Quantity::TimeBackward:
            return tr("backward, ms");
        case Quantity::TimeOptimizer:
            return tr("optimizer, ms");
        case Quantity::ParamFingerprint:
            return tr("parameters");
        default:
            return isTime(row.quantity) ? tr("%1, ms").arg(quantityTitle(row.quantity))
                                        : quantityTitle(row.quantity);
        }
    case Value:
        if (!row.present)
            return tr("no record");
        return isFingerprint(row.quantity) ? formatShortHash(row.bits)
                                           : shortNumber(row.quantity, numberOf(row.quantity, row.bits));
    default:
        return isFingerprint(row.quantity)
                   ? tr("%1 of %2 equal").arg(std::max(1, row.equal)).arg(row.recorded)
                   : shortNumber(row.quantity, row.median);
    }
}

QVariant RanksCellModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const RankCellRow& row = rows_[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.column());
    case Qt::ToolTipRole: // what is stored, nothing rounded
        if (index.column() == Value && row.present)
            return tr("stored: %1").arg(formatBits(row.quantity, row.bits));
        if (index.column() == Others && !isFingerprint(row.quantity))
            return tr("median of %n rank(s): %1", nullptr, row.recorded).arg(formatExact(row.median));
        return index.column() == What ? quantityTitle(row.quantity) : QVariant();
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (index.column() == What ? Qt::AlignLeft : Qt::AlignRight));
    case ToneRole:
        return int(index.column() == Others ? Tone::Secondary : Tone::Normal);
    default:
        return {};
    }
}

QVariant RanksCellModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case What:
        return tr("at this step");
    case Value:
        return any_ ? tr("rank %1").arg(cell_.rank) : tr("rank");
    case Others:
        return any_ ? tr("median of %1").arg(cell_.ranks) : tr("median");
    default:
        return {};
    }
}

} // namespace lockstep
