// SIGTERM, SIGINT and SIGHUP as a Qt signal: the classic pipe, written in the handler, read by the event
// loop. One object per process.
#pragma once

#include <QObject>

#include <memory>

QT_BEGIN_NAMESPACE
class QSocketNotifier;
QT_END_NAMESPACE

namespace lockstep {

class StopSignals : public QObject
{
    Q_OBJECT
public:
    explicit StopSignals(QObject* parent = nullptr);
    ~StopSignals() override;

    // The last one this process was sent, heard by the event loop or not; 0: none.
    static int last();

Q_SIGNALS:
    void received(int signal);

private:
    void read();
    std::unique_ptr<QSocketNotifier> notifier_;
};

} // namespace lockstep
