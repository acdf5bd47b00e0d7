#include "ui/models/checkpoint_verdict.h"

#include "core/ckpt/parts.h"
#include "core/ckpt/prefix.h"
#include "core/ckpt/verify.h"
#include "core/ckpt/walk.h"
#include "ui/models/checkpoint_facts.h"
#include "ui/models/format.h"

#include <QCoreApplication>
#include <QFileInfo>

#include <algorithm>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::CheckpointVerdict)
};

QString shown(std::string_view text)
{
    return qs(printable(text));
}

QString wrapperName(std::string_view segment)
{
    if (segment == "module")
        return Tr::tr("a DDP wrapper");
    if (segment == "_orig_mod")
        return QStringLiteral("torch.compile");
    if (segment == "_fsdp_wrapped_module" || segment == "_fpw_module")
        return QStringLiteral("FSDP");
    if (segment == "_checkpoint_wrapped_module")
        return Tr::tr("activation checkpointing");
    return QStringLiteral("Lightning Fabric");
}

// The leading segments of the common prefix that wrappers put there.
void findPrefix(const ModelPart& model, CheckpointVerdict& out)
{
    out.modelPath = shown(model.path);
    std::vector<std::string> names;
    for (const ModelKey& key : model.keys) {
        names.push_back(key.name);
        out.wrapped += withoutWrappers(key.name) != key.name;
    }
    out.keys = std::int64_t(names.size());
    if (names.size() < 2)
        return;
    const std::string common = commonPrefix(names); // splitKey() gives views into it
    for (const std::string_view segment : splitKey(common)) {
        if (segment.empty() || !isWrapperSegment(segment))
            break;
        out.prefix += shown(segment) + QLatin1Char('.');
    }
}

bool isPrefixRow(const Verdict& verdict)
{
    return verdict.row == "1" || verdict.row == "3" || verdict.row == "4" || verdict.row == "5";
}

// Number and limit first, then where, what torch says and what to do.
QString explain(const Verdict& verdict, std::size_t findings)
{
    QStringList words;
    words << (verdict.severity == Severity::Failure
                  ? Tr::tr("%n failure(s), limit 0.", nullptr, int(findings))
                  : Tr::tr("%n remark(s), the file loads.", nullptr, int(findings)));
    QStringList where;
    if (!verdict.key.empty())
        where << Tr::tr("key %1").arg(shown(verdict.key));
    if (!verdict.file.empty())
        where << Tr::tr("file %1").arg(shown(verdict.file));
    if (!verdict.record.empty())
        where << Tr::tr("record %1").arg(shown(verdict.record));
    if (verdict.offset)
        where << Tr::tr("byte %1").arg(formatCount(std::int64_t(*verdict.offset)));
    if (!where.isEmpty())
        words << Tr::tr("Where: %1.").arg(where.join(QStringLiteral(", ")));
    if (!verdict.fix.empty())
        words << shown(verdict.fix) + QLatin1Char('.');
    QString text = words.join(QLatin1Char(' '));
    if (!verdict.errorText.empty())
        text += QLatin1Char('\n') + Tr::tr("torch says: %1").arg(shown(verdict.errorText));
    return text;
}

void prefixHeadline(CheckpointVerdict& out)
{
    QStringList wrappers;
    const std::string prefix = out.prefix.toStdString(); // splitKey() gives views into it
    for (const std::string_view segment : splitKey(prefix))
        if (!segment.empty() && !wrappers.contains(wrapperName(segment)))
            wrappers << wrapperName(segment);
    const QString all = formatCount(out.keys);
    out.headline = Tr::tr("All %1 keys start with \"%2\"; saved from %3")
                       .arg(all, out.prefix, wrappers.join(Tr::tr(" and ")));
    out.explanation =
        Tr::tr("0 of %1 names fit a model without the wrapper, limit %1. Strip the prefix: %1 of %1.")
            .arg(all);
}

void fineChecks(const CheckpointTree& tree, const VerifyReport& report, CheckpointVerdict& out)
{
    const Checkpoint& checkpoint = *tree.checkpoint;
    if (report.recordsChecked > 0 && report.result != "damaged") {
        const auto with = std::int64_t(report.recordsChecked - report.recordsWithoutCrc);
        out.fine << (out.bytesChecked ? Tr::tr("CRC of %n record(s)", nullptr, int(with))
                                      : Tr::tr("%n record(s)", nullptr, int(report.recordsChecked)));
    }
    if (report.result == "ok" && !checkpoint.globals.empty())
        out.fine << Tr::tr("opens with weights_only");
    if (!checkpoint.globals.empty() && std::all_of(checkpoint.globals.begin(), checkpoint.globals.end(),
                                                   [](const GlobalUse& use) { return use.allowed; }))
        out.fine << Tr::tr("%n global(s), all plain", nullptr, int(checkpoint.globals.size()));
    if (out.keys > 0 && out.wrapped == 0)
        out.fine << Tr::tr("no wrapper prefix");
    else if (!out.prefix.isEmpty() && !out.prefix.contains(QLatin1String("_orig_mod")))
        out.fine << Tr::tr("prefix only, no _orig_mod");
}

QString resumeText(const VerifyReport& report)
{
    if (report.resume.empty())
        return {};
    QStringList missing, unused;
    for (const ResumeItem& item : report.resume) {
        QStringList& list = item.needed ? missing : unused;
        if (!item.present && !list.contains(qs(item.part)))
            list << qs(item.part);
    }
    QString text = missing.isEmpty()
                       ? Tr::tr("Holds everything a resumed run needs.")
                       : Tr::tr("To resume a run it lacks: %1.").arg(missing.join(QStringLiteral(", ")));
    if (!unused.isEmpty())
        text += QLatin1Char(' ') +
                Tr::tr("Without %1: right for a run that uses none.").arg(unused.join(QStringLiteral(", ")));
    return text;
}

} // namespace

CheckpointVerdictPtr judgeCheckpoint(const CheckpointTreePtr& tree, bool checkBytes)
{
    auto out = std::make_shared<CheckpointVerdict>();
    out->tree = tree;
    const QString name = QFileInfo(tree->path).fileName();
    VerifyOptions options;
    options.checkBytes = checkBytes;
    const Result<VerifyReport> report = verifyCheckpoint(tree->path.toStdString(), nullptr, options);
    if (report && report->salvage && !report->salvage->keysWhole.empty())
        out->salvageable = Tr::tr("%1 of %2 tensors are whole")
                               .arg(report->salvage->keysWhole.size())
                               .arg(report->salvage->keysWhole.size() + report->salvage->keysLost.size());
    if (!report || !tree->checkpoint) {
        out->state = State::Failed;
        out->headline = Tr::tr("%1 cannot be opened").arg(name);
        out->explanation = report ? tree->error : qs(report.error().sentence());
        return out;
    }
    out->bytesChecked = checkBytes;
    out->resume = resumeTable(*report);
    out->records = recordsTable(*tree->checkpoint, *report, checkBytes);
    out->globals = globalsTable(*tree->checkpoint);
    const Parts parts = findParts(*tree->checkpoint);
    if (parts.model())
        findPrefix(*parts.model(), *out);

    std::vector<const Verdict*> order;
    for (const Verdict& verdict : report->verdicts)
        order.push_back(&verdict);
    std::stable_sort(order.begin(), order.end(),
                     [](const Verdict* a, const Verdict* b) { return a->severity > b->severity; });
    const auto alike = order.empty() ? 0 : std::count_if(order.begin(), order.end(), [&](const Verdict* one) {
        return one->severity == order.front()->severity;
    });
    const bool prefix =
        !out->prefix.isEmpty() && std::any_of(report->verdicts.begin(), report->verdicts.end(), isPrefixRow);
    if (!order.empty() && order.front()->severity == Severity::Failure) {
        out->state = State::Failed;
        out->headline = shown(order.front()->sentence);
        out->explanation = explain(*order.front(), std::size_t(alike));
        if (!out->salvageable.isEmpty())
            out->explanation += QLatin1Char('\n') + out->salvageable + QLatin1Char('.');
    } else if (prefix) {
        out->state = State::CannotCompare; // a warning, as `ckpt verify` says: the file itself loads
        prefixHeadline(*out);
    } else if (!order.empty()) {
        out->state = order.front()->severity == Severity::Warning ? State::CannotCompare : State::Holds;
        out->headline = shown(order.front()->sentence);
        out->explanation = explain(*order.front(), std::size_t(alike));
    } else {
        out->state = State::Holds;
        out->headline = Tr::tr("No finding in %1").arg(name);
        out->explanation = resumeText(*report);
    }
    fineChecks(*tree, *report, *out);
    return out;
}

} // namespace lockstep
