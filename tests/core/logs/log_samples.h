// One small log of each kind, made by hand, and the folder a test writes them to.
#pragma once

#include "core/logs/log_data.h"

#include <QString>
#include <QTemporaryDir>

#include <string>

namespace lockstep::test {

extern const char* const kHf;
extern const char* const kCsv;
extern const char* const kMegatron;
extern const char* const kTorchtitan;
std::string tbFile();
std::string wandbSmall();
void makeTrackio(const std::string& path, bool runIds); // runIds: as since Trackio 0.24

class LogFolder
{
public:
    // Returns the path; folders in the name are made.
    std::string write(const QString& name, const std::string& bytes) const;
    std::string root() const { return folder_.path().toStdString(); }
    QString filePath(const QString& name) const { return folder_.filePath(name); }

private:
    QTemporaryDir folder_;
};

// Of a log that must be readable; empty, with a warning, where it is not.
LogData readLog(const std::string& path);

} // namespace lockstep::test
