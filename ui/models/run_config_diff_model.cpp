#include "ui/models/run_config_diff_model.h"

#include "core/config/key_pairs.h"
#include "core/gates/config_diff.h"
#include "ui/models/format.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep {

namespace {

enum GroupId { Maths, Launch, Engine, Recording, GroupCount };

// Keys that the migration itself changes, that only say how the work is spread, and that only say what is written down.
// Everything not named here is maths: a key nobody thought of must not look harmless.
constexpr std::array<std::string_view, 5> kLaunch = {"mode", "world", "align_world", "batch", "accumulate"};
constexpr std::array<std::string_view, 12> kEngine = {
    "backend",   "device",  "reduction", "find_unused", "static_graph",      "bucket_view",
    "bucket_mb", "threads", "resume",    "order",       "broadcast_buffers", "collective_timeout_seconds"};
constexpr std::array<std::string_view, 5> kRecording = {"record", "keep_steps", "log_every", "eval_every",
                                                        "checkpoint_every"};

template<std::size_t N>
bool contains(const std::array<std::string_view, N>& list, const std::string& key)
{
    return std::find(list.begin(), list.end(), key) != list.end();
}

bool areScripts(const RunConfig& a, const RunConfig& b)
{
    return a.workloadOptions.contains("script") && b.workloadOptions.contains("script");
}

// Two scripts of a user's own: that they are two is the migration, and what they do differently their figures say.
bool namesTheScript(const std::string& key, const RunConfig& a, const RunConfig& b)
{
    return (key == "workload" || key == "workload_options.script" || key == "workload_options.command") &&
           areScripts(a, b);
}

GroupId groupOf(const std::string& key, const RunConfig& a, const RunConfig& b)
{
    if (namesTheScript(key, a, b) || (areScripts(a, b) && isDealingOfScript(key)))
        return Launch; // the recorded samples decide over how they are dealt, here as in Preflight
    if (contains(kLaunch, key))
        return Launch;
    if (contains(kEngine, key))
        return Engine;
    return contains(kRecording, key) ? Recording : Maths;
}

QString batchTerm(const RunConfig& c)
{
    const int world = std::max(c.mode == "single" ? c.alignWorld : c.world, 1);
    return c.accumulate == 1 ? QStringLiteral("%1 x %2").arg(world).arg(c.batch)
                             : QStringLiteral("%1 x %2 x %3").arg(world).arg(c.batch).arg(c.accumulate);
}

} // namespace

void RunConfigDiffModel::setRuns(std::optional<RunConfig> a, std::optional<RunConfig> b, const QString& nameA,
                                 const QString& nameB)
{
    if (a == a_ && b == b_ && nameA == nameA_ && nameB == nameB_)
        return; // scroll position stays
    beginResetModel();
    a_ = std::move(a);
    b_ = std::move(b);
    nameA_ = nameA;
    nameB_ = nameB;
    rebuild();
    endResetModel();
}

void RunConfigDiffModel::setDifferingOnly(bool differingOnly)
{
    if (differingOnly == differingOnly_)
        return;
    beginResetModel();
    differingOnly_ = differingOnly;
    rebuild();
    endResetModel();
}

void RunConfigDiffModel::explain(Row& row, int group, const RunConfig& a, const RunConfig& b)
{
    const bool sameBatch = samplesPerStep(a) == samplesPerStep(b);
    if (!row.differs) {
        row.effect = tr("equal");
        row.state = State::Holds;
    } else if (group == Launch) {
        const bool batchKey = row.key == QLatin1String("batch") || row.key == QLatin1String("accumulate") ||
                              row.key == QLatin1String("align_world") || row.key == QLatin1String("world");
        if (batchKey && !sameBatch) {
            row.effect = tr("changes the maths");
            row.state = State::Diverged;
            row.why = tr("global batch %1 = %2 in A, %3 = %4 in B")
                          .arg(batchTerm(a))
                          .arg(samplesPerStep(a))
                          .arg(batchTerm(b))
                          .arg(samplesPerStep(b));
        } else if (areScripts(a, b) && !namesTheScript(row.key.toStdString(), a, b) &&
                   isDealingOfScript(row.key.toStdString())) {
            row.effect = tr("no effect");
            row.state = State::Off;
            row.why = tr("how the script deals its samples; the recorded samples decide");
        } else {
            row.effect = tr("declared");
            row.state = State::Holds;
            row.why = batchKey && row.key != QLatin1String("world")
                          ? tr("%1 = %2, global batch equal").arg(batchTerm(a), batchTerm(b))
                          : tr("the migration itself");
        }
    } else if (group == Engine) {
        row.effect = tr("order of addition");
        row.state = State::Off;
        row.why =
            row.key == QLatin1String("order")     ? tr("another sample order: compare by sample, not by step")
            : row.key == QLatin1String("resume")  ? tr("one of the runs started from a checkpoint")
            : row.key == QLatin1String("device")  ? tr("another device rounds differently")
            : row.key == QLatin1String("threads") ? tr("the number of threads changes the order of sums")
                                                  : tr("how the gradients travel, not what they are");
    } else if (group == Recording) {
        row.effect = tr("no effect");
        row.state = State::Off;
        row.why = tr("changes what is written down, not what is computed");
    } else {
        row.effect = tr("changes the maths");
        row.state = State::Diverged;
        row.why = row.key == QLatin1String("faults") ? tr("a fault was switched on deliberately")
                  : row.key == QLatin1String("steps") || row.key == QLatin1String("epochs")
                      ? tr("one run is longer; schedules may end elsewhere")
                  : row.key == QLatin1String("seed")         ? tr("other initial values and dropout masks")
                  : row.key == QLatin1String("sampler_seed") ? tr("another sample order")
                  : row.key == QLatin1String("lr")           ? tr("every update is scaled by it")
                                                             : QString();
    }
}

void RunConfigDiffModel::rebuild()
{
    groups_.clear();
    keys_ = 0;
    differing_ = 0;
    if (!a_ || !b_)
        return;
    const QString titles[GroupCount] = {tr("Maths"), tr("Launch"), tr("Engine"), tr("Recording")};
    groups_.resize(GroupCount);
    for (int g = 0; g < GroupCount; ++g)
        groups_[std::size_t(g)].title = titles[g];

    const auto shown = [](const std::string& value) {
        return value.empty() ? QStringLiteral("-") : qs(value);
    };
    const auto add = [&](const KeyPair& pair, bool counted) {
        Row row;
        row.key = qs(pair.key);
        row.a = shown(pair.a);
        row.b = shown(pair.b);
        row.differs = pair.differs();
        const GroupId id = groupOf(pair.key, *a_, *b_);
        explain(row, id, *a_, *b_);
        Group& group = groups_[id];
        group.keys += counted;
        keys_ += counted;
        group.differing += counted && row.differs;
        differing_ += counted && row.differs;
        if (row.differs || !differingOnly_)
            group.rows.push_back(std::move(row));
    };
    for (const KeyPair& pair : keyPairs(*a_, *b_))
        add(pair, true);
    // How a script is called is worth seeing and no setting.
    const auto command = [](const RunConfig& config) {
        const auto it = config.workloadOptions.find("command");
        return it == config.workloadOptions.end() ? std::string() : it->second;
    };
    if (const KeyPair called{"workload_options.command", command(*a_), command(*b_)};
        !called.a.empty() || !called.b.empty())
        add(called, false);
    std::erase_if(groups_, [](const Group& group) { return group.rows.empty(); });
}

QString RunConfigDiffModel::summary() const
{
    if (!a_ || !b_)
        return {};
    return tr("%1 keys: %2 equal, %3 differ").arg(keys_).arg(keys_ - differing_).arg(differing_);
}

QString RunConfigDiffModel::markdown() const
{
    QString text = QStringLiteral("| %1 | A %2 | B %3 | %4 | %5 |\n|---|---|---|---|---|\n")
                       .arg(tr("key"), nameA_, nameB_, tr("effect"), tr("why"));
    for (const Group& group : groups_)
        for (const Row& row : group.rows)
            text += QStringLiteral("| %1 | %2 | %3 | %4 | %5 |\n")
                        .arg(row.key, row.a, row.b, row.effect, row.why);
    return text;
}

// Internal id: 0 for groups, group row + 1 for the rows of a group.
QModelIndex RunConfigDiffModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, parent.isValid() ? quintptr(parent.row()) + 1 : quintptr(0));
}

QModelIndex RunConfigDiffModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || child.internalId() == 0)
        return {};
    return createIndex(int(child.internalId()) - 1, 0, quintptr(0));
}

int RunConfigDiffModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return int(groups_.size());
    if (parent.internalId() != 0 || parent.column() != 0)
        return 0;
    return int(groups_[std::size_t(parent.row())].rows.size());
}

int RunConfigDiffModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

const RunConfigDiffModel::Row* RunConfigDiffModel::rowAt(const QModelIndex& index) const
{
    if (index.internalId() == 0)
        return nullptr;
    return &groups_[std::size_t(index.internalId() - 1)].rows[std::size_t(index.row())];
}

QVariant RunConfigDiffModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row* row = rowAt(index);
    if (!row) {
        const Group& group = groups_[std::size_t(index.row())];
        if (role == Qt::DisplayRole && index.column() == Key)
            return tr("%1, %2 of %3 keys differ").arg(group.title).arg(group.differing).arg(group.keys);
        if (role == EmphasisRole || role == GroupRole)
            return true;
        return {};
    }
    const bool maths = row->state == State::Diverged;
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Key:
            return row->key;
        case ValueA:
            return row->a;
        case ValueB:
            return row->b;
        case Effect:
            return row->effect;
        case Why:
            return row->why;
        default:
            return {};
        }
    case Qt::ToolTipRole:
        return index.column() == Effect ? QVariant() : data(index, Qt::DisplayRole);
    case StateRole:
        return index.column() == Effect ? QVariant(int(row->state)) : QVariant();
    case TintRole:
        return maths;
    case EmphasisRole:
        return maths && (index.column() == Key || index.column() == ValueB);
    case ToneRole:
        if (maths && index.column() == ValueB)
            return int(Tone::Red);
        return int(index.column() == Why ? Tone::Secondary : Tone::Normal);
    case IdRole:
        return row->key;
    default:
        return {};
    }
}

QVariant RunConfigDiffModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractItemModel::headerData(section, orientation, role);
    switch (section) {
    case Key:
        return tr("key");
    case ValueA:
        return nameA_.isEmpty() ? QStringLiteral("A") : QStringLiteral("A ") + nameA_;
    case ValueB:
        return nameB_.isEmpty() ? QStringLiteral("B") : QStringLiteral("B ") + nameB_;
    case Effect:
        return tr("effect");
    case Why:
        return tr("why");
    default:
        return {};
    }
}

} // namespace lockstep
