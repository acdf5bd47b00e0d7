// The colours and fonts of every plot, light and dark. The values are the design tokens; the contrast figures
// stand with the design.
#pragma once

#include <QColor>
#include <QFont>

#include <array>

namespace lockstep {

struct PlotTheme {
    bool dark = false;
    QColor base, ink, ink2, ink3;    // page, text, secondary text, hints and axis labels
    QColor line, line2;              // borders, grid
    QColor accent;                   // focus, selection, navigator window
    QColor red, redTint;             // diverged, failed, not finite
    QColor amber;                    // overridden
    QColor single;                   // baseline curve
    std::array<QColor, 4> ranks;     // one hue, dark to light
    QColor twinOver, twinAlone;      // dashes on top of a line / on the page
    QColor range;                    // fill: spread of the ranks
    QColor tolerance, toleranceEdge; // fill and edge: tolerance band
    std::array<QColor, 7> heat;      // sequential

    // Colour of rank `rank` of `world`; above four ranks the four colours repeat from dark to light.
    QColor rank(int rank) const
    {
        return ranks[static_cast<std::size_t>(rank < 0 ? 0 : rank) % ranks.size()];
    }

    static PlotTheme light();
    static PlotTheme darkTheme();
    // The one whose page is nearer to the application's window colour.
    static PlotTheme forApplication();

    // 11 px labels of axes and chips; titles are the same, semi-bold.
    static QFont labelFont();
    static QFont titleFont();
};

} // namespace lockstep
