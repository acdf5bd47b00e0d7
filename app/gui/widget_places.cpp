#include "app/gui/widget_places.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QScrollArea>

#include <cstdio>
#include <unistd.h>

namespace lockstep {

namespace {

QWidget* usable(const QString& name)
{
    for (const QWidget* top : QApplication::topLevelWidgets())
        for (QWidget* widget : top->findChildren<QWidget*>(name))
            if (widget->isVisible() && widget->isEnabled())
                return widget;
    return nullptr;
}

// In coordinates of the screen; null: there is no such row.
QRect placeOf(QWidget& widget, int row)
{
    for (QWidget* above = widget.parentWidget(); above; above = above->parentWidget())
        if (auto* scroll = qobject_cast<QScrollArea*>(above))
            scroll->ensureWidgetVisible(&widget);
    if (row < 0)
        return {widget.mapToGlobal(QPoint(0, 0)), widget.size()};
    auto* view = qobject_cast<QAbstractItemView*>(&widget);
    if (!view || !view->model() || row >= view->model()->rowCount())
        return {};
    QRect cell;
    for (int column = 0; column < view->model()->columnCount() && cell.isEmpty(); ++column) {
        const QModelIndex index = view->model()->index(row, column);
        view->scrollTo(index);
        cell = view->visualRect(index); // empty: the column is hidden
    }
    return cell.isEmpty() ? QRect() : QRect(view->viewport()->mapToGlobal(cell.topLeft()), cell.size());
}

} // namespace

bool WidgetPlaces::wanted()
{
    return qEnvironmentVariableIsSet("LOCKSTEP_TELL_PLACES");
}

WidgetPlaces::WidgetPlaces(QObject* parent) : QObject(parent), input_(STDIN_FILENO, QSocketNotifier::Read)
{
    connect(&input_, &QSocketNotifier::activated, this, &WidgetPlaces::read);
}

void WidgetPlaces::read()
{
    char text[256];
    const ssize_t length = ::read(STDIN_FILENO, text, sizeof text);
    if (length <= 0) { // the test has ended
        input_.setEnabled(false);
        return;
    }
    line_.append(text, length);
    for (qsizetype end = line_.indexOf('\n'); end >= 0; end = line_.indexOf('\n')) {
        const QString asked = QString::fromUtf8(line_.left(end));
        line_.remove(0, end + 1);
        const QString row = asked.section(QLatin1Char(':'), 1);
        QWidget* const widget = usable(asked.section(QLatin1Char(':'), 0, 0));
        const QRect place = widget ? placeOf(*widget, row.isEmpty() ? -1 : row.toInt()) : QRect();
        if (place.isEmpty())
            std::puts("none");
        else
            std::printf("%d %d %d %d\n", place.x(), place.y(), place.width(), place.height());
        std::fflush(stdout);
    }
}

} // namespace lockstep
