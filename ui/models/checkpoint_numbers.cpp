#include "ui/models/checkpoint_numbers.h"

#include "core/ckpt/checkpoint.h"
#include "core/ckpt/stats.h"
#include "core/ckpt/storage_use.h"
#include "core/ckpt/tensor_bytes.h"
#include "ui/models/format.h"

#include <QCoreApplication>
#include <QElapsedTimer>

#include <cmath>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::CheckpointNumbers)
};

constexpr qint64 kBatchMs = 100;

QString exactText(const ExactNumber& number)
{
    if (const auto* i = std::get_if<std::int64_t>(&number))
        return QString::number(*i);
    if (const auto* u = std::get_if<std::uint64_t>(&number))
        return QString::number(*u);
    if (const auto* d = std::get_if<double>(&number))
        return formatExact(*d);
    return {};
}

TensorNumbers numbersOf(const Checkpoint& checkpoint, const TensorInfo& tensor,
                        const std::function<bool()>& wanted, std::uint64_t& bytesRead)
{
    TensorNumbers numbers;
    if (tensor.meta || !hasStatistics(tensor.dtype))
        return numbers;
    if (repeatsBeyondReason(checkpoint, tensor)) {
        numbers.problem = Tr::tr("Not read: the view repeats its bytes too often.");
        return numbers;
    }
    const CkptResult<TensorBytes> bytes = TensorBytes::open(checkpoint, tensor);
    if (!bytes) {
        numbers.problem = qs(bytes.problem().toError().sentence());
        return numbers;
    }
    ElementStats stats;
    bool whole = true;
    bytes->forEachBlock([&](std::span<const std::byte> block) {
        accumulate(bytes->dtype(), block, stats);
        bytesRead += block.size();
        return whole = wanted();
    });
    if (!whole)
        return numbers;
    numbers.known = true;
    numbers.norm = stats.l2();
    numbers.nan = stats.nan;
    numbers.inf = stats.inf;
    numbers.min = exactText(stats.min);
    numbers.max = exactText(stats.max);
    numbers.minShort = std::holds_alternative<double>(stats.min)
                           ? formatStatistic(std::get<double>(stats.min))
                           : numbers.min;
    return numbers;
}

QByteArray csvField(const QString& text)
{
    QString field = text;
    if (field.contains(QLatin1Char('"')) || field.contains(QLatin1Char(',')) ||
        field.contains(QLatin1Char('\n')) || field.contains(QLatin1Char('\r')))
        field = QLatin1Char('"') + field.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
    return field.toUtf8();
}

} // namespace

QString formatStatistic(double value)
{
    const double size = std::abs(value);
    if (value == 0)
        return QStringLiteral("0");
    return std::isfinite(value) && size >= 1e-3 && size < 1e7 ? QString::number(value, 'f', 4)
                                                              : QString::number(value, 'g', 5);
}

NumbersBatchPtr readNumbers(const CheckpointTreePtr& tree, std::size_t first,
                            const std::function<bool()>& wanted)
{
    auto batch = std::make_shared<NumbersBatch>();
    batch->tree = tree;
    QElapsedTimer clock;
    clock.start();
    std::size_t at = first;
    for (; at < tree->rows.size() && wanted(); ++at) {
        const CheckpointRow& row = tree->rows[at];
        if (!row.tensor || !tree->checkpoint || row.tensorIndex >= tree->checkpoint->tensors.size())
            continue;
        if (!batch->rows.empty() && clock.elapsed() > kBatchMs)
            break;
        batch->rows.emplace_back(
            int(at),
            numbersOf(*tree->checkpoint, tree->checkpoint->tensors[row.tensorIndex], wanted, batch->bytes));
    }
    batch->next = at;
    batch->finished = at >= tree->rows.size();
    return batch;
}

QByteArray checkpointCsv(const CheckpointTree& tree, const std::vector<TensorNumbers>& numbers)
{
    QByteArray csv = "key,dtype,shape,elements,norm,min,max,nan,inf,value\r\n";
    for (std::size_t i = 0; i < tree.rows.size(); ++i) {
        const CheckpointRow& row = tree.rows[i];
        if (!row.children.empty() || row.kind == QLatin1String("prefix"))
            continue;
        const TensorNumbers* n = i < numbers.size() && numbers[i].known ? &numbers[i] : nullptr;
        const QStringList fields = {row.path,
                                    row.kind,
                                    row.tensor ? row.shape : QString(),
                                    row.elements < 0 ? QString() : QString::number(row.elements),
                                    n ? formatExact(n->norm) : QString(),
                                    n ? n->min : QString(),
                                    n ? n->max : QString(),
                                    n ? QString::number(n->nan) : QString(),
                                    n ? QString::number(n->inf) : QString(),
                                    row.value};
        for (qsizetype f = 0; f < fields.size(); ++f) {
            if (f > 0)
                csv += ',';
            csv += csvField(fields[f]);
        }
        csv += "\r\n";
    }
    return csv;
}

} // namespace lockstep
