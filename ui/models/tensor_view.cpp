#include "ui/models/tensor_view.h"

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/element_decode.h"
#include "core/ckpt/storage_use.h"
#include "core/ckpt/tensor_bytes.h"
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
    Q_DECLARE_TR_FUNCTIONS(lockstep::TensorView)
};

constexpr int kBins = 64;
constexpr std::int64_t kMostRows = 64;
constexpr std::int64_t kMostColumns = 32;
constexpr std::int64_t kHeatRows = 96;
constexpr std::int64_t kHeatColumns = 192;

// Calls `use` with every element as a double. False: ended early.
bool forEachValue(const TensorBytes& bytes, const std::function<bool()>& wanted,
                  const std::function<void(double)>& use)
{
    std::vector<double> values;
    bool whole = true;
    bytes.forEachBlock([&](std::span<const std::byte> block) {
        values.resize(block.size() / bytes.elementSize());
        decodeToDouble(bytes.dtype(), block.data(), values.size(), values.data());
        for (const double value : values)
            use(value);
        return whole = wanted();
    });
    return whole;
}

// Puts every value into its cell of the heat map.
class Heat
{
public:
    explicit Heat(TensorView& view) : view_(view)
    {
        view_.heatRows = int(std::min(view_.allRows, kHeatRows));
        view_.heatColumns = int(std::min(view_.allColumns, kHeatColumns));
        view_.heat.assign(std::size_t(view_.heatRows) * std::size_t(view_.heatColumns), 0);
    }

    void add(double value)
    {
        const std::int64_t row = row_ * view_.heatRows / view_.allRows;
        const std::int64_t column = column_ * view_.heatColumns / view_.allColumns;
        double& cell = view_.heat[std::size_t(row * view_.heatColumns + column)];
        if (!std::isfinite(value))
            cell = std::numeric_limits<double>::quiet_NaN();
        else if (!std::isnan(cell))
            cell = std::max(cell, std::fabs(value));
        if (++column_ == view_.allColumns) {
            column_ = 0;
            ++row_;
        }
    }

private:
    TensorView& view_;
    std::int64_t row_ = 0, column_ = 0;
};

// `view` knows its rows and columns already.
void readDistribution(const TensorBytes& bytes, const std::function<bool()>& wanted, TensorView& view)
{
    view.low = std::numeric_limits<double>::infinity();
    view.high = -view.low;
    Heat heat(view);
    const bool whole = forEachValue(bytes, wanted, [&view, &heat](double value) {
        heat.add(value);
        view.nan += std::isnan(value);
        view.inf += std::isinf(value);
        if (std::isfinite(value)) {
            view.low = std::min(view.low, value);
            view.high = std::max(view.high, value);
        }
    });
    if (!whole || view.low > view.high)
        return; // nothing finite
    view.bins.assign(kBins, 0);
    // Halves first: the whole width may overflow.
    const double half = view.high / 2 - view.low / 2;
    forEachValue(bytes, wanted, [&view, half](double value) {
        if (!std::isfinite(value))
            return;
        const double part = half > 0 ? (value / 2 - view.low / 2) / half : 0.5;
        ++view.bins[std::size_t(std::clamp(int(part * kBins), 0, kBins - 1))];
    });
}

void readSlice(const TensorBytes& bytes, std::span<const std::int64_t> shape, TensorView& view)
{
    const auto elements = std::int64_t(bytes.elements());
    view.allColumns = shape.empty() ? 1 : std::max<std::int64_t>(shape.back(), 1);
    view.allRows = elements / view.allColumns;
    view.columns = int(std::min(view.allColumns, kMostColumns));
    view.rows = int(std::min(view.allRows, kMostRows));
    view.slice.resize(std::size_t(view.rows) * std::size_t(view.columns));
    std::vector<std::byte> raw(std::size_t(view.columns) * bytes.elementSize());
    for (int row = 0; row < view.rows; ++row) {
        bytes.read(std::uint64_t(row) * std::uint64_t(view.allColumns), std::uint64_t(view.columns),
                   raw.data());
        decodeToDouble(bytes.dtype(), raw.data(), std::size_t(view.columns),
                       view.slice.data() + std::size_t(row) * std::size_t(view.columns));
    }
}

} // namespace

TensorViewPtr readTensorView(const CheckpointTreePtr& tree, std::size_t row,
                             const std::function<bool()>& wanted)
{
    auto view = std::make_shared<TensorView>();
    const CheckpointRow& one = tree->rows[row];
    view->key = keyName(*tree, one);
    view->type = one.kind;
    view->shape = one.shape;
    const Checkpoint& checkpoint = *tree->checkpoint;
    const TensorInfo& tensor = checkpoint.tensors[one.tensorIndex];
    const DTypeClass kind = dtypeInfo(tensor.dtype).kind;
    if (kind == DTypeClass::Complex || kind == DTypeClass::Quantised || kind == DTypeClass::Packed) {
        view->error = Tr::tr("Values of %1 are not shown.").arg(one.kind);
        return view;
    }
    if (tensor.meta || repeatsBeyondReason(checkpoint, tensor)) {
        view->error = Tr::tr("There are no bytes of its own to show.");
        return view;
    }
    const CkptResult<TensorBytes> bytes = TensorBytes::open(checkpoint, tensor);
    if (!bytes) {
        view->error = qs(bytes.problem().toError().sentence());
        return view;
    }
    if (bytes->elements() == 0) {
        view->error = Tr::tr("The tensor has no elements.");
        return view;
    }
    readSlice(*bytes, checkpoint.shape(tensor), *view);
    readDistribution(*bytes, wanted, *view);
    return view;
}

void TensorSliceModel::setView(TensorViewPtr view)
{
    beginResetModel();
    view_ = std::move(view);
    endResetModel();
}

int TensorSliceModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !view_ ? 0 : view_->rows;
}

int TensorSliceModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !view_ ? 0 : view_->columns;
}

QVariant TensorSliceModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const double value =
        view_->slice[std::size_t(index.row()) * std::size_t(view_->columns) + std::size_t(index.column())];
    switch (role) {
    case Qt::DisplayRole:
        return formatStatistic(value);
    case Qt::ToolTipRole:
        return formatExact(value);
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | Qt::AlignRight);
    case ToneRole:
        return int(std::isnan(value) ? Tone::Red : Tone::Normal);
    default:
        return {};
    }
}

QVariant TensorSliceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::DisplayRole)
        return QString::number(section);
    return QAbstractTableModel::headerData(section, orientation, role);
}

} // namespace lockstep
