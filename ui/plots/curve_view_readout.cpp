// Cursor and read-out of CurveView, its text for screen readers, and what the overlay paints.
#include "ui/plots/curve_view_p.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace lockstep {

namespace {

// The shortest decimal that reads back to the same double.
QString exactText(double value, bool withSign)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("+Infinity") : QStringLiteral("-Infinity");
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    const QString text = QString::fromLatin1(buffer, int(end - buffer));
    return withSign && value > 0 ? QLatin1Char('+') + text : text;
}

QString xWord(XUnit unit, qint64 x)
{
    return unit == XUnit::Samples ? CurveView::tr("%1 samples").arg(x) : CurveView::tr("step %1").arg(x);
}

} // namespace

void CurveView::setXUnit(XUnit unit)
{
    impl_->xUnit = unit;
    impl_->overlay->update();
}

void CurveView::setCursorStep(std::optional<qint64> step)
{
    impl_->cursor = step;
    impl_->overlay->update();
}

std::optional<qint64> CurveView::cursorStep() const
{
    return impl_->cursor;
}

void CurveView::moveCursorTo(qint64 step)
{
    impl_->userCursor(step);
    impl_->moveCursor(0); // into view
}

void CurveView::setPinned(bool pinned)
{
    impl_->pinned = pinned;
    impl_->overlay->update();
}

std::vector<ReadoutRow> CurveView::readout(qint64 step) const
{
    std::vector<ReadoutRow> rows;
    for (const CurveSeries& one : impl_->series) {
        ReadoutRow row{one.label, one.color, false, 0, tr("no record")};
        if (hasValues(one.data)) {
            const std::size_t i = one.data->indexOf(step);
            if (i < one.data->size()) {
                row.present = true;
                row.value = one.data->value(i);
                row.text = exactText(row.value, one.signedValue);
            }
        }
        rows.push_back(row);
    }
    return rows;
}

QString CurveView::readoutText(qint64 step) const
{
    QStringList parts;
    for (const ReadoutRow& row : readout(step))
        if (row.present)
            parts << row.label + QLatin1Char(' ') + row.text;
    const QString where = xWord(impl_->xUnit, step);
    return parts.isEmpty() ? tr("%1: no record").arg(where)
                           : where + QStringLiteral(": ") + parts.join(QStringLiteral(", "));
}

QString CurveView::textSummary() const
{
    QStringList lines;
    for (const CurveSeries& one : impl_->series) {
        if (!hasValues(one.data)) {
            lines << tr("%1: no values.").arg(one.label);
            continue;
        }
        const SeriesNode node = one.data->summary();
        QString line = tr("%1: steps %2 to %3, last value %4")
                           .arg(one.label)
                           .arg(one.data->firstStep())
                           .arg(one.data->lastStep())
                           .arg(exactText(one.data->value(one.data->size() - 1), one.signedValue));
        if (!node.empty())
            line += tr(", lowest %1, highest %2").arg(exactText(node.lo, false), exactText(node.hi, false));
        if (node.bad > 0)
            line += tr(", %n not finite", nullptr, int(node.bad));
        lines << line + QLatin1Char('.');
    }
    return lines.isEmpty() ? tr("No values yet.") : lines.join(QLatin1Char(' '));
}

OverlayContent CurveView::Impl::overlayContent() const
{
    OverlayContent c;
    c.theme = theme;
    c.area = plot->axisRect()->rect();
    c.title = title;
    c.caption = xAxisVisible ? xCaption : QString();
    c.focused = q->hasFocus();
    const bool anyValues =
        std::any_of(series.begin(), series.end(), [](const CurveSeries& s) { return hasValues(s.data); });
    if (!anyValues)
        c.emptyText = emptyText;
    const auto lastVisible = [this](const SeriesSnapshot& data) -> std::optional<double> {
        std::size_t i = data.lowerBound(std::nextafter(high, std::numeric_limits<double>::infinity()));
        for (int tries = 0; i > 0 && tries < 64; ++tries)
            if (std::isfinite(data.value(--i)))
                return data.value(i);
        return std::nullopt;
    };
    const auto addLabel = [&](const QString& text, const SeriesSnapshot::Ptr& data, const QColor& color,
                              bool bold) {
        if (text.isEmpty() || !hasValues(data))
            return;
        if (const auto value = lastVisible(*data))
            c.endLabels.push_back({text, color, valueToY(*value), bold});
    };
    for (const CurveBand& band : bands)
        addLabel(band.endLabel, band.upper, theme.ink3, false);
    for (const CurveSeries& one : series)
        addLabel(one.endLabel, one.data, one.endColor.isValid() ? one.endColor : one.color, one.bold);
    for (const CurveMarker& marker : markers)
        c.markers.push_back({stepToX(double(marker.step)), marker.text, marker.kind});
    for (const CurveNote& note : notes)
        c.notes.push_back({{stepToX(double(note.step)), valueToY(note.value)}, note.text, note.color});
    if (selection)
        c.selection = std::pair{stepToX(selection->first), stepToX(selection->second)};
    if (cursor && double(*cursor) >= low && double(*cursor) <= high) {
        c.cursorX = stepToX(double(*cursor));
        const auto rows = q->readout(*cursor);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].present && std::isfinite(rows[i].value) && series[i].style != CurveStyle::Rank)
                c.dots.push_back({{*c.cursorX, valueToY(rows[i].value)}, rows[i].color});
            if (hovered || pinned || q->hasFocus())
                c.rows.push_back(
                    {rows[i].label, rows[i].text, rows[i].color, series[i].style, series[i].bold});
        }
        if (!c.rows.empty())
            c.readoutHead =
                pinned ? CurveView::tr("%1, pinned").arg(xWord(xUnit, *cursor)) : xWord(xUnit, *cursor);
    }
    return c;
}

} // namespace lockstep
