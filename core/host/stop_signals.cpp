#include "core/host/stop_signals.h"

#include <QSocketNotifier>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace lockstep {

namespace {

int pipeEnds[2] = {-1, -1};
volatile std::sig_atomic_t lastSignal = 0;
constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};

extern "C" void writeSignal(int signal)
{
    lastSignal = signal;
    const auto byte = static_cast<unsigned char>(signal);
    // A full pipe already holds more requests to stop than anybody needs.
    [[maybe_unused]] const ssize_t written = write(pipeEnds[1], &byte, 1);
}

} // namespace

StopSignals::StopSignals(QObject* parent) : QObject(parent)
{
    Q_ASSERT(pipeEnds[0] < 0);
    if (pipe2(pipeEnds, O_CLOEXEC | O_NONBLOCK) != 0)
        return; // the default action, ending the process, remains
    notifier_ = std::make_unique<QSocketNotifier>(pipeEnds[0], QSocketNotifier::Read);
    connect(notifier_.get(), &QSocketNotifier::activated, this, &StopSignals::read);
    for (int signal : kSignals) {
        struct sigaction action {
        };
        sigaction(signal, nullptr, &action);
        if (action.sa_handler == SIG_IGN)
            continue; // nohup, or a background job of a shell: the starter does not want us to hear it
        action = {};
        action.sa_handler = writeSignal;
        action.sa_flags = SA_RESTART;
        sigaction(signal, &action, nullptr);
    }
}

StopSignals::~StopSignals()
{
    for (int signal : kSignals)
        std::signal(signal, SIG_DFL);
    notifier_.reset();
    for (int& end : pipeEnds) {
        if (end >= 0)
            close(end);
        end = -1;
    }
}

int StopSignals::last()
{
    return lastSignal;
}

void StopSignals::read()
{
    unsigned char byte = 0;
    while (::read(pipeEnds[0], &byte, 1) == 1)
        Q_EMIT received(byte);
}

} // namespace lockstep
