#include "ui/models/checkpoint_facts.h"

#include "core/ckpt/walk.h"
#include "core/ckpt/zip_archive.h"
#include "ui/models/format.h"

#include <QCoreApplication>

#include <algorithm>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::CheckpointFacts)
};

constexpr std::size_t kMostRows = 20'000;

QString shown(std::string_view text)
{
    return qs(printable(text));
}

bool isBad(const VerifyReport& report, std::string_view record)
{
    return std::any_of(report.verdicts.begin(), report.verdicts.end(), [record](const Verdict& verdict) {
        return verdict.severity == Severity::Failure && !verdict.record.empty() &&
               (verdict.record == record || record.ends_with('/' + verdict.record));
    });
}

void addArchive(const ZipArchive& archive, const VerifyReport& report, bool bytesChecked, FactTable& out)
{
    for (const ZipRecord& record : archive.records()) {
        if (out.rows.size() >= kMostRows)
            return;
        const bool bad = isBad(report, record.name);
        const bool without = record.crc == 0 && record.size > 0;
        out.rows.push_back(
            {bad                        ? State::Failed
             : bytesChecked && !without ? State::Holds
                                        : State::Off,
             {shown(record.name),
              bad            ? Tr::tr("damaged")
              : without      ? Tr::tr("saved without")
              : bytesChecked ? Tr::tr("agrees")
                             : Tr::tr("not read yet"),
              QStringLiteral("%1").arg(record.crc, 8, 16, QLatin1Char('0')),
              formatCount(std::int64_t(record.size)), record.stored() ? Tr::tr("stored") : Tr::tr("deflated"),
              formatCount(std::int64_t(record.header))}});
    }
}

} // namespace

FactTable resumeTable(const VerifyReport& report)
{
    FactTable out;
    out.headers = {Tr::tr("part"), Tr::tr("rank"), Tr::tr("in the file"), Tr::tr("note")};
    for (const ResumeItem& item : report.resume)
        out.rows.push_back({item.present  ? State::Holds
                            : item.needed ? State::CannotCompare
                                          : State::Off,
                            {qs(item.part), item.rank ? QString::number(*item.rank) : Tr::tr("all"),
                             item.present  ? Tr::tr("yes")
                             : item.needed ? Tr::tr("missing")
                                           : Tr::tr("none"),
                             shown(item.note)}});
    return out;
}

FactTable recordsTable(const Checkpoint& checkpoint, const VerifyReport& report, bool bytesChecked)
{
    FactTable out;
    if (!checkpoint.archives.empty()) {
        out.headers = {Tr::tr("record"), Tr::tr("CRC"),     Tr::tr("CRC-32"),
                       Tr::tr("bytes"),  Tr::tr("kept as"), Tr::tr("at byte")};
        out.numbers = {3, 5};
        for (const auto& archive : checkpoint.archives)
            if (archive)
                addArchive(*archive, report, bytesChecked, out);
        return out;
    }
    out.headers = {Tr::tr("storage"), Tr::tr("device"), Tr::tr("dtype"), Tr::tr("bytes"), Tr::tr("at byte")};
    out.numbers = {3, 4};
    for (std::size_t i = 0; i < checkpoint.storages.size() && i < kMostRows; ++i) {
        const StorageInfo& storage = checkpoint.storages[i];
        out.rows.push_back(
            {storage.file == kNone && !storage.meta ? State::Failed : State::None,
             {storage.key.empty() ? QString::number(i) : shown(storage.key), shown(storage.device),
              storage.dtype ? shown(dtypeInfo(*storage.dtype).name) : Tr::tr("bytes"),
              formatCount(std::int64_t(storage.bytes)), formatCount(std::int64_t(storage.offset))}});
    }
    return out;
}

FactTable globalsTable(const Checkpoint& checkpoint)
{
    FactTable out;
    out.headers = {Tr::tr("name"), Tr::tr("weights_only"), Tr::tr("uses"), Tr::tr("first at byte")};
    out.numbers = {2, 3};
    for (const GlobalUse& use : checkpoint.globals)
        out.rows.push_back({use.allowed ? State::Holds : State::Failed,
                            {shown(use.name), use.allowed ? Tr::tr("allowed") : Tr::tr("refused"),
                             formatCount(use.uses), formatCount(std::int64_t(use.offset))}});
    std::stable_partition(out.rows.begin(), out.rows.end(),
                          [](const FactTable::Row& row) { return row.state == State::Failed; });
    return out;
}

} // namespace lockstep
