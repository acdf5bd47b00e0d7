#include "ui/models/preflight_keys_model.h"

#include "core/config/key_pairs.h"
#include "core/gates/config_diff.h"
#include "core/gates/preflight.h"
#include "ui/models/format.h"

#include <algorithm>

namespace lockstep {

namespace {

QString planned(const std::string& name)
{
    return name.empty() || name == "planned" ? PreflightKeysModel::tr("planned") : qs(name);
}

QString shown(const std::string& value)
{
    return value.empty() ? QStringLiteral("-") : qs(value);
}

} // namespace

void PreflightKeysModel::setGate(const GateInfo* gate)
{
    beginResetModel();
    rows_.clear();
    error_.clear();
    keys_ = 0;
    if (gate) {
        const Result<JudgedConfigs> configs = judgedConfigs(gate->configJson);
        if (!configs) {
            error_ = qs(configs.error().sentence());
        } else {
            singleName_ = planned(configs->singleName);
            ddpName_ = planned(configs->ddpName);
            keys_ = int(keyPairs(configs->single, configs->ddp).size());
            for (const ConfigDiffRow& diff : differingKeys(configs->single, configs->ddp)) {
                Row row{qs(diff.key), shown(diff.single), shown(diff.ddp), {}, {}, diff.check};
                row.effect = diff.effect == "no effect"  ? tr("no effect")
                             : diff.effect == "declared" ? tr("declared")
                                                         : tr("changes the maths");
                const auto check = std::find_if(gate->checks.begin(), gate->checks.end(),
                                                [&](const GateCheck& c) { return c.id == diff.check; });
                if (diff.effect == "no effect" && isDealingOfScript(diff.key) &&
                    diff.key != "workload_options.script") {
                    row.state = State::Off;
                    row.why = tr("how the script deals its samples; the recorded samples decide");
                } else if (check != gate->checks.end()) {
                    row.state = check->verdict == "pass"   ? State::Holds
                                : check->verdict == "fail" ? State::Diverged
                                                           : State::CannotCompare;
                    row.why = qs(check->sentence);
                } else {
                    row.check.clear();
                    row.state = diff.effect == "changes the maths" ? State::CannotCompare : State::Off;
                    row.why = diff.effect == "no effect"  ? tr("how the run is made, not what it computes")
                              : diff.effect == "declared" ? tr("the migration itself")
                                                          : tr("no check judges this key");
                }
                rows_.push_back(std::move(row));
            }
            // What fails is read first.
            std::stable_partition(rows_.begin(), rows_.end(),
                                  [](const Row& row) { return row.state == State::Diverged; });
        }
    }
    endResetModel();
    Q_EMIT headerDataChanged(Qt::Horizontal, Single, Ddp);
}

QString PreflightKeysModel::summary() const
{
    return keys_ == 0 ? QString()
                      : tr("%1 keys: %2 equal, %3 differ")
                            .arg(keys_)
                            .arg(keys_ - int(rows_.size()))
                            .arg(rows_.size());
}

int PreflightKeysModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(rows_.size());
}

int PreflightKeysModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant PreflightKeysModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Row& row = rows_[std::size_t(index.row())];
    const bool fails = row.state == State::Diverged;
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Key:
            return row.key;
        case Single:
            return row.single;
        case Ddp:
            return row.ddp;
        case Verdict:
            return fails                               ? tr("fails")
                   : row.state == State::Holds         ? tr("holds")
                   : row.state == State::CannotCompare ? tr("not judged")
                                                       : tr("needs none");
        case Effect:
            return row.effect;
        case Why:
            return row.why;
        default:
            return {};
        }
    case Qt::ToolTipRole:
        return index.column() == Verdict ? QVariant(row.why) : data(index, Qt::DisplayRole);
    case StateRole:
        return index.column() == Verdict ? QVariant(int(row.state)) : QVariant();
    case TintRole:
        return fails;
    case EmphasisRole:
        return fails && (index.column() == Key || index.column() == Ddp);
    case ToneRole:
        if (fails && index.column() == Ddp)
            return int(Tone::Red);
        return int(index.column() >= Effect ? Tone::Secondary : Tone::Normal);
    case IdRole:
        return qs(row.check);
    default:
        return {};
    }
}

QVariant PreflightKeysModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case Key:
        return tr("key");
    case Single:
        return singleName_.isEmpty() ? tr("single") : tr("single, %1").arg(singleName_);
    case Ddp:
        return ddpName_.isEmpty() ? tr("ddp") : tr("ddp, %1").arg(ddpName_);
    case Verdict:
        return tr("verdict");
    case Effect:
        return tr("effect");
    case Why:
        return tr("why");
    default:
        return {};
    }
}

} // namespace lockstep
