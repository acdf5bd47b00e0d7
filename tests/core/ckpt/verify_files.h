// What the tests of verdicts share: files with chosen keys, and what verify says of a file.
#pragma once

#include "core/ckpt/torch_zip_writer.h"
#include "core/ckpt/verify.h"

#include <QString>
#include <QTemporaryDir>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep::test {

inline QString corpus()
{
    return QStringLiteral(LOCKSTEP_SHARED_DIR "/corpus");
}

inline VerifyReport verifyFile(const QString& path, const QString& target = {})
{
    std::optional<Target> against;
    if (!target.isEmpty())
        against = std::move(readTarget(target.toStdString())).value();
    return std::move(verifyCheckpoint(path.toStdString(), against ? &*against : nullptr)).value();
}

inline QString text(const VerifyReport& report)
{
    QString all;
    for (const Verdict& verdict : report.verdicts) {
        all += QString::fromStdString("[" + verdict.row + "] " + verdict.sentence + " " + verdict.key + " ");
        for (const std::string& line : verdict.evidence)
            all += QString::fromStdString(line) + QLatin1Char(' ');
    }
    return all;
}

inline std::set<std::string> rowsOf(const VerifyReport& report)
{
    std::set<std::string> result;
    for (const Verdict& verdict : report.verdicts)
        result.insert(verdict.row);
    return result;
}

// A checkpoint with these keys, each a [2, 2] tensor.
inline QString writeKeys(const QTemporaryDir& folder, const std::vector<std::string>& keys)
{
    static const std::array<float, 4> values = {1, 2, 3, 4};
    SaveDict dict;
    for (const std::string& key : keys)
        dict.set(key, SaveTensor::dense(DType::Float32, {2, 2}, std::as_bytes(std::span(values))));
    const QString file = folder.filePath(QStringLiteral("ckpt.pt"));
    TorchZipOptions options;
    options.durable = false;
    if (!writeTorchZip(file.toStdString(), dict, options).ok())
        qFatal("the file could not be written");
    return file;
}

} // namespace lockstep::test
