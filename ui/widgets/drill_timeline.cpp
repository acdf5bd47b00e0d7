#include "ui/widgets/drill_timeline.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace lockstep {

namespace {

constexpr int kLane = 30;
constexpr int kHead = 24;
constexpr int kFoot = 24;
constexpr int kNames = 84;  // width of the names of the lanes
constexpr int kBefore = 90; // stretch before the break
constexpr int kRight = 16;
constexpr double kFirst = 1e-3; // seconds at the left end of the logarithmic axis

QString timeText(double seconds)
{
    if (seconds < 1)
        return DrillTimeline::tr("%1 ms").arg(seconds * 1e3, 0, 'g', 3);
    return DrillTimeline::tr("%1 s").arg(seconds, 0, 'g', 3);
}

QString momentWord(DrillMoment::Kind kind)
{
    switch (kind) {
    case DrillMoment::Kind::Breaks:
        return DrillTimeline::tr("breaks");
    case DrillMoment::Kind::Notices:
        return DrillTimeline::tr("notices");
    case DrillMoment::Kind::Exits:
        return DrillTimeline::tr("exits");
    case DrillMoment::Kind::Names:
        return DrillTimeline::tr("names the cause");
    }
    return {};
}

} // namespace

DrillTimeline::DrillTimeline(QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Timeline of the drill"));
}

void DrillTimeline::setStory(const DrillStory& story)
{
    story_ = story;
    QStringList words;
    for (const DrillLane& lane : story_.lanes)
        for (const DrillMoment& moment : lane.moments)
            words << tr("%1 %2 after %3").arg(lane.title, momentWord(moment.kind), timeText(moment.seconds));
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

QSize DrillTimeline::sizeHint() const
{
    return {600, kHead + std::max(3, int(story_.lanes.size())) * kLane + kFoot};
}

QSize DrillTimeline::minimumSizeHint() const
{
    return {360, sizeHint().height()};
}

int DrillTimeline::laneTop(int lane) const
{
    return kHead + lane * kLane;
}

double DrillTimeline::xOf(double seconds) const
{
    const double left = kNames + kBefore, right = width() - kRight;
    const double last = std::max({story_.limit * 2, story_.goneAfter * 1.5, 1.0});
    const double part = std::log10(std::max(seconds, kFirst) / kFirst) / std::log10(last / kFirst);
    return left + std::clamp(part, 0.0, 1.0) * (right - left);
}

void DrillTimeline::paintAxis(QPainter& painter) const
{
    const Tokens& t = theme::tokens();
    const int bottom = laneTop(int(story_.lanes.size()));
    painter.setFont(theme::font(11));
    for (double tick = kFirst; xOf(tick) < width() - kRight - 1; tick *= 10) {
        const double x = xOf(tick);
        painter.setPen(t.line2);
        painter.drawLine(QPointF(x, kHead), QPointF(x, bottom));
        painter.setPen(t.ink2);
        painter.drawText(QRectF(x - 30, bottom + 3, 60, 18), Qt::AlignCenter, timeText(tick));
    }
    // The break, and what is allowed.
    const double broke = kNames + kBefore;
    painter.setPen(QPen(t.ink, 1.5));
    painter.drawLine(QPointF(broke, kHead - 4), QPointF(broke, bottom));
    painter.setFont(theme::font(11, true));
    painter.drawText(QRectF(broke - 70, 2, 66, 18), Qt::AlignRight | Qt::AlignVCenter, tr("it breaks"));
    if (story_.limit > 0) {
        const double x = xOf(story_.limit);
        painter.setPen(QPen(t.ink, 1.2, Qt::DashLine));
        painter.drawLine(QPointF(x, kHead - 4), QPointF(x, bottom));
        painter.drawText(QRectF(x - 104, 2, 100, 18), Qt::AlignRight | Qt::AlignVCenter,
                         tr("limit %1").arg(timeText(story_.limit)));
    }
}

void DrillTimeline::paintLane(QPainter& painter, const DrillLane& lane, int top) const
{
    const Tokens& t = theme::tokens();
    const double middle = top + kLane / 2.0, broke = kNames + kBefore;
    painter.setPen(t.line2);
    painter.drawLine(QPointF(12, top + kLane), QPointF(width() - kRight, top + kLane));
    painter.setFont(theme::font(12.5, lane.broken));
    painter.setPen(t.ink);
    painter.drawText(QRectF(12, top, kNames - 14, kLane), Qt::AlignVCenter | Qt::AlignLeft, lane.title);
    const bool host = lane.rank < 0;
    painter.setPen(Qt::NoPen);
    painter.setBrush(host ? t.line2 : t.tint);
    painter.drawRect(QRectF(kNames, middle - 6, kBefore, 12));
    if (!host) {
        painter.setFont(theme::font(11));
        painter.setPen(t.ink2);
        const QString text = story_.step >= 0 ? tr("step %1").arg(story_.step) : tr("trains");
        painter.drawText(QRectF(kNames + 4, middle - 8, kBefore - 8, 16), Qt::AlignVCenter | Qt::AlignLeft,
                         text);
    }
    double noticed = -1, gone = -1;
    for (const DrillMoment& moment : lane.moments) {
        if (moment.kind == DrillMoment::Kind::Notices && noticed < 0)
            noticed = moment.seconds;
        if (moment.kind == DrillMoment::Kind::Exits)
            gone = moment.seconds;
    }
    if (!host && !lane.broken && noticed >= 0) { // waits until it notices, then ends
        painter.setPen(Qt::NoPen);
        painter.setBrush(QBrush(t.ink3, Qt::BDiagPattern));
        painter.drawRect(QRectF(broke, middle - 6, xOf(noticed) - broke, 12));
        if (gone > noticed) {
            painter.setBrush(t.line2);
            painter.drawRect(QRectF(xOf(noticed), middle - 6, xOf(gone) - xOf(noticed), 12));
        }
    }
    double free = broke; // right end of what is painted
    QString last;
    for (const DrillMoment& moment : lane.moments) {
        const bool breaks = moment.kind == DrillMoment::Kind::Breaks;
        const double x = breaks ? broke : xOf(moment.seconds);
        painter.setPen(QPen(t.ink, 1.4));
        switch (moment.kind) {
        case DrillMoment::Kind::Breaks:
            paintIcon(painter, QRectF(x - 8, middle - 8, 16, 16), QStringLiteral("diverged"), t.ink);
            break;
        case DrillMoment::Kind::Notices:
            painter.setBrush(t.ink);
            painter.drawEllipse(QPointF(x, middle), 4, 4);
            break;
        case DrillMoment::Kind::Exits:
            painter.setBrush(t.base);
            painter.drawRect(QRectF(x - 4, middle - 4, 8, 8));
            break;
        case DrillMoment::Kind::Names:
            painter.setBrush(t.ink);
            painter.drawPolygon(
                QPolygonF{{x, middle - 5}, {x + 5, middle}, {x, middle + 5}, {x - 5, middle}});
            break;
        }
        free = std::max(free, x);
        last = breaks ? moment.text : tr("%1 %2").arg(momentWord(moment.kind), timeText(moment.seconds));
    }
    // On a ground of its own, for the line of the limit runs through; at the left where the right is too narrow.
    painter.setFont(theme::font(11.5, lane.broken));
    const double wanted = painter.fontMetrics().horizontalAdvance(last) + 6.0;
    const double room = width() - kRight - free - 12;
    QRectF words(free + 10, middle - 9, std::min(wanted, room), 18);
    if (wanted > room && (host || lane.broken) && free - broke > wanted + 12)
        words = QRectF(free - 10 - wanted, middle - 9, wanted, 18);
    painter.fillRect(words, t.base);
    painter.setPen(t.ink);
    painter.drawText(words.adjusted(2, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(last, Qt::ElideRight, int(words.width()) - 2));
}

void DrillTimeline::paintEvent(QPaintEvent*)
{
    const Tokens& t = theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (story_.lanes.empty()) {
        painter.setFont(theme::font(13));
        painter.setPen(t.ink2);
        painter.drawText(rect().adjusted(16, 8, -16, -8), Qt::AlignCenter | Qt::TextWordWrap,
                         !story_.error.isEmpty()          ? story_.error
                         : story_.state == State::Waiting ? tr("This drill was not played yet.")
                         : story_.state == State::Running
                             ? tr("This drill is being played.")
                             : tr("Nothing had to end in this drill: the run finished."));
        return;
    }
    paintAxis(painter);
    for (std::size_t i = 0; i < story_.lanes.size(); ++i)
        paintLane(painter, story_.lanes[i], laneTop(int(i)));
}

bool DrillTimeline::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int at = (help->pos().y() - kHead) / kLane;
    QStringList lines;
    if (help->pos().y() >= kHead && at < int(story_.lanes.size()))
        for (const DrillMoment& moment : story_.lanes[std::size_t(at)].moments)
            lines << QStringLiteral("%1, %2: %3")
                         .arg(timeText(moment.seconds), momentWord(moment.kind), moment.text);
    if (lines.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
    return true;
}

} // namespace lockstep
