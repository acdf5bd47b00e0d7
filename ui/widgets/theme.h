// Light and dark look from one set of tokens: palette, style sheet and fonts. The plots have their own colours
// (ui/plots/plot_theme.h) of the same set. GUI thread.
#pragma once

#include <QColor>
#include <QFont>
#include <QString>

class QApplication;

namespace lockstep {

enum class ThemeKind { Light, Dark };

struct Tokens {
    QColor base, win, alt;  // page / rail, bars, table head / hover, group row
    QColor line, line2;     // borders / row lines
    QColor ink, ink2, ink3; // text, secondary, hints
    QColor accent, tint;    // primary button, selection, focus, progress
    QColor onAccent, accentHover;
    QColor red, redTint, redLine;       // diverged, failed check, unusable file
    QColor amber, amberTint, amberLine; // overridden
    QColor green;                       // gate passed
};

namespace theme {

// Sets style, palette, style sheet and fonts of the application; widgets that exist are repainted.
void apply(QApplication& app, ThemeKind kind);
ThemeKind current();
const Tokens& tokens();
// What the desktop prefers, judged by its window colour before apply() was called.
ThemeKind desktopPreference(const QApplication& app);

// Sizes in px as in the design: 12.5 for tables, 11 for labels. Digits are tabular in both families.
QFont font(double px, bool semibold = false);
QFont monoFont(double px);

} // namespace theme

} // namespace lockstep
