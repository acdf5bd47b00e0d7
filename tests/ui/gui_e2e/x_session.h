// An X server of its own for one test program, and a hand on its mouse and keyboard (xdotool sends XTest events, which
// no program can tell from real ones). Everything started here is ended here, by its process id.
#pragma once

#include <QPoint>
#include <QProcess>
#include <QSize>
#include <QString>

#include <memory>

namespace lockstep::test {

class XSession
{
public:
    ~XSession();

    // Empty: running. Otherwise why not, with the command that helps.
    QString start(const QSize& screen);
    QProcessEnvironment environment() const;

    // Program with this display; ended with the session at the latest.
    QProcess* launch(const QString& program, const QStringList& arguments);
    // First visible window of the process whose title matches; 0: none in time.
    qulonglong windowOf(qint64 pid, int timeoutMs, const QString& title = QStringLiteral("."));

    void focus(qulonglong window);
    void move(const QPoint& screen);
    void click(const QPoint& screen);
    void key(const QString& keys); // "ctrl+k", "Return"
    void type(const QString& text);
    // The whole screen as a PNG; false: could not be taken.
    bool screenshot(const QString& path);

private:
    QString xdotool(const QStringList& arguments);

    QProcess server_;
    QString display_;
    std::vector<std::unique_ptr<QProcess>> programs_;
};

} // namespace lockstep::test
