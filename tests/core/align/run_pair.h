// Two made-up runs and what the diagnosis says of them.
#pragma once

#include "core/align/diagnose.h"
#include "support/trace_dsl.h"

#include <QStringList>
#include <QTemporaryDir>

namespace lockstep::test {

// Keeps the two runs of a test open.
class Pair
{
public:
    Pair(const std::string& a, const std::string& b)
        : a_(writeTrace(dir_.path().toStdString() + "/a", a)),
          b_(writeTrace(dir_.path().toStdString() + "/b", b)),
          readerA_(std::move(RunReader::open(a_.folder)).value()),
          readerB_(std::move(RunReader::open(b_.folder)).value())
    {
    }

    RunConfig& configA() { return a_.config; }
    RunConfig& configB() { return b_.config; }
    RunReader& readerA() { return readerA_; }
    RunReader& readerB() { return readerB_; }
    Diagnosis diagnosis()
    {
        return std::move(diagnose({&readerA_, traitsOf(a_.config)}, {&readerB_, traitsOf(b_.config)}))
            .value();
    }

private:
    QTemporaryDir dir_;
    TracedRun a_, b_;
    RunReader readerA_, readerB_;
};

inline QString causesOf(const Diagnosis& diagnosis)
{
    QStringList causes;
    for (const Finding& finding : diagnosis.findings)
        for (const std::string& cause : finding.causes)
            causes << QString::fromStdString(cause);
    return causes.join(' ');
}

} // namespace lockstep::test
