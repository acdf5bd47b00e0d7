// For tests that work the window through a real mouse: tells where a widget is on the screen, so that no test has to know a
// pixel. Listens on standard input only where LOCKSTEP_TELL_PLACES is set. A line is the object name of a widget, or
// NAME:ROW for a row of a list; the answer on standard output is "x y width height", or "none" where no such widget can be
// used now. It is scrolled into view before. GUI thread.
#pragma once

#include <QSocketNotifier>

namespace lockstep {

class WidgetPlaces : public QObject
{
    Q_OBJECT

public:
    explicit WidgetPlaces(QObject* parent = nullptr);
    static bool wanted();

private:
    void read();

    QSocketNotifier input_;
    QByteArray line_; // what has come of the next one
};

} // namespace lockstep
