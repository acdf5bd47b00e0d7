#include "ui/plots/plot_theme.h"

#include <QApplication>
#include <QPalette>

namespace lockstep {

PlotTheme PlotTheme::light()
{
    PlotTheme t;
    t.base = QColor(0xFFFFFF);
    t.ink = QColor(0x1A1D21);
    t.ink2 = QColor(0x4A525C);
    t.ink3 = QColor(0x626A75);
    t.line = QColor(0xD5D9DE);
    t.line2 = QColor(0xE8EAED);
    t.accent = QColor(0x5545C2);
    t.red = QColor(0xB3261E);
    t.redTint = QColor(0xFBECEA);
    t.amber = QColor(0x855500);
    t.single = QColor(0x1A1D21);
    t.ranks = {QColor(0x0A3D62), QColor(0x155E95), QColor(0x2B82C4), QColor(0x5499CF)};
    t.twinOver = QColor(0x9CCBEF);
    t.twinAlone = QColor(0x4D94CC);
    t.range = QColor(0xCFE3F3);
    t.tolerance = QColor(0xE4E7EA);
    t.toleranceEdge = QColor(0x848C96);
    t.heat = {QColor(0xF1F5F9), QColor(0xD9E7F3), QColor(0xB4D1EA), QColor(0x84B5DE),
              QColor(0x4B90C8), QColor(0x1F67A3), QColor(0x0A3D62)};
    return t;
}

PlotTheme PlotTheme::darkTheme()
{
    PlotTheme t;
    t.dark = true;
    t.base = QColor(0x1E2126);
    t.ink = QColor(0xE9EBEE);
    t.ink2 = QColor(0xB7BEC7);
    t.ink3 = QColor(0x929AA5);
    t.line = QColor(0x3A4049);
    t.line2 = QColor(0x2C3138);
    t.accent = QColor(0xA99FFF);
    t.red = QColor(0xFF8A80);
    t.redTint = QColor(0x3B2322);
    t.amber = QColor(0xF2BC57);
    t.single = QColor(0xE9EBEE);
    t.ranks = {QColor(0xB5DBF7), QColor(0x7FBFEF), QColor(0x4D9DDB), QColor(0x3B82BC)};
    t.twinOver = QColor(0x1F5C8C);
    t.twinAlone = QColor(0x3B82BC);
    t.range = QColor(0x24415A);
    t.tolerance = QColor(0x31363E);
    t.toleranceEdge = QColor(0x6B737E);
    t.heat = {QColor(0x232931), QColor(0x23384B), QColor(0x25496A), QColor(0x2C659A),
              QColor(0x3F8BCB), QColor(0x7FBFEF), QColor(0xCFE8FB)};
    return t;
}

PlotTheme PlotTheme::forApplication()
{
    return QApplication::palette().color(QPalette::Base).lightness() < 128 ? darkTheme() : light();
}

QFont PlotTheme::labelFont()
{
    QFont font = QApplication::font();
    font.setPixelSize(11);
    return font;
}

QFont PlotTheme::titleFont()
{
    QFont font = labelFont();
    font.setPixelSize(12);
    font.setWeight(QFont::DemiBold);
    return font;
}

} // namespace lockstep
