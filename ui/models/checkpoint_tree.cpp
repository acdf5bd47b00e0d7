#include "ui/models/checkpoint_tree.h"

#include "core/ckpt/open.h"
#include "core/ckpt/walk.h"
#include "ui/models/format.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFileInfo>

#include <unordered_map>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::CheckpointTree)
};

constexpr int kMostRows = 200'000;
constexpr int kDeepest = 100;
constexpr std::int64_t kLongestText = 80;

QString fromView(std::string_view text)
{
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

// Copies the value tree into rows. Containers that hold themselves end at the depth limit.
class Builder
{
public:
    Builder(const Checkpoint& checkpoint, CheckpointTree& tree) : c_(checkpoint), tree_(tree) {}

    void add(const Value& value, const QString& name, int parent, int depth)
    {
        if (int(tree_.rows.size()) >= kMostRows || depth > kDeepest) {
            tree_.complete = false;
            return;
        }
        const int at = append(name, parent);
        switch (value.kind()) {
        case ValueKind::Dict:
            tree_.rows[std::size_t(at)].kind = QStringLiteral("dict");
            addEntries(value, at, depth);
            setCount(at, value.size());
            break;
        case ValueKind::List:
        case ValueKind::Tuple:
        case ValueKind::Set:
        case ValueKind::FrozenSet:
            tree_.rows[std::size_t(at)].kind = value.is(ValueKind::Tuple)  ? QStringLiteral("tuple")
                                               : value.is(ValueKind::List) ? QStringLiteral("list")
                                                                           : QStringLiteral("set");
            tree_.rows[std::size_t(at)].shape = Tr::tr("%n item(s)", nullptr, int(value.size()));
            for (std::size_t i = 0; i < value.size(); ++i)
                add(value.item(i), QString::number(i), at, depth + 1);
            break;
        case ValueKind::Object:
            tree_.rows[std::size_t(at)].kind = fromView(value.className());
            if (value.items().valid())
                addEntries(value.items(), at, depth);
            if (value.state().valid())
                add(value.state(), QStringLiteral("state"), at, depth + 1);
            break;
        case ValueKind::Tensor:
            addTensor(value, at);
            break;
        default:
            addPlain(value, at);
        }
    }

private:
    int append(const QString& name, int parent)
    {
        CheckpointRow row;
        row.name = name;
        row.parent = parent;
        std::vector<int>& siblings = parent < 0 ? tree_.roots : tree_.rows[std::size_t(parent)].children;
        row.row = int(siblings.size());
        const QString above = parent < 0 ? QString() : tree_.rows[std::size_t(parent)].path;
        row.path = above.isEmpty() || above.endsWith(QLatin1Char('.')) ? above + name
                                                                       : above + QLatin1Char('.') + name;
        siblings.push_back(int(tree_.rows.size()));
        tree_.rows.push_back(std::move(row));
        return int(tree_.rows.size()) - 1;
    }

    void setCount(int at, std::size_t keys)
    {
        tree_.rows[std::size_t(at)].shape = Tr::tr("%n key(s)", nullptr, int(keys));
    }

    // String keys with dots are grouped by prefix; the order of the file is kept.
    void addEntries(const Value& dict, int at, int depth)
    {
        std::unordered_map<std::string, int> groups; // prefix -> row
        std::unordered_map<int, std::size_t> counts;
        for (std::size_t i = 0; i < dict.size(); ++i) {
            const Value key = dict.key(i);
            QString name = key.is(ValueKind::Str)   ? fromView(key.text())
                           : key.is(ValueKind::Int) ? QString::fromStdString(key.decimal())
                                                    : QStringLiteral("[%1]").arg(i);
            int parent = at;
            if (key.is(ValueKind::Str)) {
                const QStringList parts = name.split(QLatin1Char('.'));
                QString prefix;
                for (qsizetype p = 0; p + 1 < parts.size() && p < 12; ++p) {
                    prefix += parts[p] + QLatin1Char('.');
                    const auto known = groups.find(prefix.toStdString());
                    if (known == groups.end()) {
                        const int row = append(parts[p] + QLatin1Char('.'), parent);
                        tree_.rows[std::size_t(row)].kind = QStringLiteral("prefix");
                        groups.emplace(prefix.toStdString(), row);
                        parent = row;
                    } else {
                        parent = known->second;
                    }
                    ++counts[parent];
                }
                if (parts.size() > 1)
                    name = parts.last();
            }
            add(dict.item(i), name, parent, depth + 1);
        }
        for (const auto& [row, keys] : counts)
            setCount(row, keys);
    }

    void addTensor(const Value& value, int at)
    {
        const TensorInfo& tensor = value.tensor();
        CheckpointRow& row = tree_.rows[std::size_t(at)];
        const auto shape = c_.shape(tensor);
        row.tensor = true;
        row.tensorIndex = value.tensorIndex();
        row.kind = fromView(dtypeInfo(tensor.dtype).name);
        row.shape = formatShape({shape.begin(), shape.end()});
        row.elements = c_.elements(tensor).value_or(-1);
        if (tensor.meta)
            row.value = Tr::tr("meta, no bytes");
        ++tree_.tensors;
        if (row.elements < 0)
            return;
        tree_.elements += row.elements;
        for (int above = row.parent; above >= 0; above = tree_.rows[std::size_t(above)].parent) {
            std::int64_t& sum = tree_.rows[std::size_t(above)].elements;
            sum = std::max<std::int64_t>(sum, 0) + tree_.rows[std::size_t(at)].elements;
        }
    }

    void addPlain(const Value& value, int at)
    {
        CheckpointRow& row = tree_.rows[std::size_t(at)];
        switch (value.kind()) {
        case ValueKind::None:
            row.kind = QStringLiteral("None");
            break;
        case ValueKind::Bool:
            row.kind = QStringLiteral("bool");
            row.value = value.boolean() ? QStringLiteral("True") : QStringLiteral("False");
            break;
        case ValueKind::Int:
        case ValueKind::BigInt:
            row.kind = QStringLiteral("int");
            row.value = QString::fromStdString(value.decimal());
            break;
        case ValueKind::Float:
            row.kind = QStringLiteral("float");
            row.value = formatExact(value.real());
            break;
        case ValueKind::Bytes:
        case ValueKind::ByteArray:
            row.kind = QStringLiteral("bytes");
            row.shape = formatBytes(std::int64_t(value.text().size()));
            break;
        case ValueKind::Str:
        case ValueKind::Global:
        case ValueKind::DtypeRef:
        case ValueKind::Device:
        case ValueKind::Layout:
        case ValueKind::QScheme:
        case ValueKind::NumpyDtype:
            row.kind = value.is(ValueKind::Str) ? QStringLiteral("str") : QStringLiteral("name");
            row.value = fromView(value.text().substr(0, kLongestText));
            break;
        case ValueKind::NumpyArray:
        case ValueKind::NumpyScalar:
            row.kind = QStringLiteral("numpy ") + fromView(value.numpy().dtype);
            break;
        default:
            row.kind = QStringLiteral("value");
        }
    }

    const Checkpoint& c_;
    CheckpointTree& tree_;
};

} // namespace

QString keyName(const CheckpointTree& tree, const CheckpointRow& row)
{
    QString name = row.name;
    for (int above = row.parent; above >= 0; above = tree.rows[std::size_t(above)].parent) {
        const CheckpointRow& group = tree.rows[std::size_t(above)];
        if (group.kind != QLatin1String("prefix"))
            break;
        name.prepend(group.name);
    }
    return name;
}

CheckpointTreePtr readCheckpointTree(const QString& path)
{
    auto tree = std::make_shared<CheckpointTree>();
    tree->path = path;
    QElapsedTimer clock;
    clock.start();
    Result<Checkpoint> opened = openCheckpoint(path.toStdString());
    if (!opened) {
        tree->error = qs(opened.error().sentence());
        return tree;
    }
    tree->checkpoint = std::make_shared<const Checkpoint>(std::move(*opened));
    const Checkpoint& checkpoint = *tree->checkpoint;
    tree->container = fromView(containerName(checkpoint.container));
    tree->bytes = QFileInfo(path).size();
    if (!checkpoint.weightsOnly)
        tree->refusal = qs(checkpoint.refusal);
    for (const CkptProblem& problem : checkpoint.problems)
        tree->problems.push_back(qs(problem.toError().sentence()));
    if (checkpoint.root != kNone) {
        const Value root = checkpoint.rootValue();
        Builder builder(checkpoint, *tree);
        builder.add(root, QFileInfo(path).fileName(), -1, 0);
    } else if (tree->problems.empty()) {
        tree->error = Tr::tr("%1 holds nothing that can be listed.").arg(QFileInfo(path).fileName());
    }
    tree->readMs = double(clock.nsecsElapsed()) / 1e6;
    return tree;
}

} // namespace lockstep
