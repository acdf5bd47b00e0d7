#include "ui/models/checkpoint_repair.h"

#include "core/ckpt/convert.h"
#include "core/ckpt/parts.h"
#include "core/ckpt/prefix.h"
#include "core/ckpt/walk.h"
#include "ui/models/cli_program.h"
#include "ui/models/format.h"

#include <QProcess>

#include <algorithm>
#include <unistd.h>

namespace lockstep {

namespace {

constexpr std::size_t kShown = 4;

bool fits(const std::string& name)
{
    return withoutWrappers(name) == name;
}

} // namespace

RepairPreviewPtr previewRepair(const CheckpointTreePtr& tree, const RepairChoice& choice)
{
    auto out = std::make_shared<RepairPreview>();
    ConvertOptions options;
    for (const QString& prefix : choice.strip)
        options.strip.push_back(prefix.toStdString());
    options.modelOnly = choice.modelOnly;
    if (choice.bfloat16)
        options.dtype = DType::BFloat16;
    if (choice.safetensors)
        options.format = OutputFormat::Safetensors;
    const Result<ConvertReport> report = previewConvert(*tree->checkpoint, options);
    if (!report) {
        out->error = qs(report.error().sentence());
        return out;
    }
    const auto& renamed = report->renamed;
    out->renamedCount = std::int64_t(renamed.size());
    for (std::size_t i = 0; i < renamed.size() && i < kShown; ++i)
        out->renamed.emplace_back(qs(printable(renamed[i].first)), qs(printable(renamed[i].second)));
    for (const std::string& note : report->notes)
        out->notes << qs(printable(note)) + QLatin1Char('.');
    out->tensors = std::int64_t(report->keys.size());
    if (!choice.safetensors)
        out->needsTorch = qs(report->needsTorch);
    const Parts parts = findParts(*tree->checkpoint);
    if (!parts.model())
        return out;
    for (const ModelKey& key : parts.model()->keys) {
        std::string name = key.name;
        out->fitBefore += fits(name);
        for (const std::string& prefix : options.strip)
            name = withoutPrefix(name, prefix);
        out->fitAfter += fits(name);
        ++out->keys;
    }
    return out;
}

QStringList repairWords(const QString& path, const QString& output, const RepairChoice& choice)
{
    QStringList words{QStringLiteral("ckpt"), QStringLiteral("convert"), path, QStringLiteral("-o"), output};
    for (const QString& prefix : choice.strip)
        words << QStringLiteral("--strip") << prefix;
    if (choice.bfloat16)
        words << QStringLiteral("--dtype") << QStringLiteral("bfloat16");
    if (choice.modelOnly)
        words << QStringLiteral("--model-only");
    words << QStringLiteral("--format")
          << (choice.safetensors ? QStringLiteral("safetensors") : QStringLiteral("torch"));
    return words;
}

QStringList salvageWords(const QString& path, const QString& output)
{
    return {QStringLiteral("ckpt"), QStringLiteral("salvage"), path, QStringLiteral("-o"), output};
}

RepairWriter::~RepairWriter()
{
    // QProcess would kill its child; the copy is written atomically, so it may go on alone.
    if (process_)
        process_->disconnect(this);
}

void RepairWriter::write(const QStringList& words, const QString& output)
{
    const QString program = findCli();
    if (busy())
        return;
    if (program.isEmpty()) {
        Q_EMIT failed(
            tr("lockstep-cli was not found. It writes the copy and should stand beside this program. "
               "Install it there or set LOCKSTEP_CLI."));
        return;
    }
    process_ = new QProcess;
    process_->setStandardInputFile(QProcess::nullDevice());
    process_->setStandardOutputFile(QProcess::nullDevice());
    process_->setChildProcessModifier([] { ::setsid(); });
    // A salvage that lost tensors ends with 1 and has written the others.
    const int allowed = words.value(1) == QLatin1String("salvage") ? 1 : 0;
    connect(process_, &QProcess::finished, this,
            [this, output, allowed](int code, QProcess::ExitStatus status) {
                QString error = QString::fromUtf8(process_->readAllStandardError()).trimmed();
                const bool good = status == QProcess::NormalExit && code <= allowed;
                if (!good && error.isEmpty())
                    error = tr("The program that writes the copy ended with code %1.").arg(code);
                finish(output, good ? QString() : error);
            });
    connect(process_, &QProcess::errorOccurred, this, [this, output, program](QProcess::ProcessError what) {
        if (what == QProcess::FailedToStart)
            finish(output, tr("%1 could not be started. It is not an executable program.").arg(program));
    });
    process_->start(program, words);
}

void RepairWriter::finish(const QString& output, const QString& error)
{
    process_->deleteLater();
    process_ = nullptr;
    if (error.isEmpty())
        Q_EMIT written(output);
    else
        Q_EMIT failed(error);
}

} // namespace lockstep
