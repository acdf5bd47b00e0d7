#include "ui/widgets/theme.h"

#include <QApplication>
#include <QFile>
#include <QPalette>
#include <QPixmapCache>
#include <QScreen>
#include <QStyle>
#include <QStyleFactory>
#include <QToolTip>

namespace lockstep::theme {

namespace {

const Tokens kLight = {.base = 0xFFFFFF,
                       .win = 0xF2F3F5,
                       .alt = 0xF8F9FA,
                       .line = 0xD5D9DE,
                       .line2 = 0xE8EAED,
                       .ink = 0x1A1D21,
                       .ink2 = 0x4A525C,
                       .ink3 = 0x626A75,
                       .accent = 0x5545C2,
                       .tint = 0xECEAFA,
                       .onAccent = 0xFFFFFF,
                       .accentHover = 0x4738AE,
                       .red = 0xB3261E,
                       .redTint = 0xFBECEA,
                       .redLine = 0xE5B5B1,
                       .amber = 0x855500,
                       .amberTint = 0xFBF2DE,
                       .amberLine = 0xE3C98F,
                       .green = 0x166B37};
const Tokens kDark = {.base = 0x1E2126,
                      .win = 0x17191D,
                      .alt = 0x23272D,
                      .line = 0x3A4049,
                      .line2 = 0x2C3138,
                      .ink = 0xE9EBEE,
                      .ink2 = 0xB7BEC7,
                      .ink3 = 0x929AA5,
                      .accent = 0xA99FFF,
                      .tint = 0x2B2945,
                      .onAccent = 0x17191D,
                      .accentHover = 0xBDB5FF,
                      .red = 0xFF8A80,
                      .redTint = 0x3B2322,
                      .redLine = 0x7A423E,
                      .amber = 0xF2BC57,
                      .amberTint = 0x39301A,
                      .amberLine = 0x6B5726,
                      .green = 0x69CF8C};

ThemeKind g_kind = ThemeKind::Light;

QPalette palette(const Tokens& t)
{
    QPalette p;
    p.setColor(QPalette::Window, t.base);
    p.setColor(QPalette::Base, t.base);
    p.setColor(QPalette::AlternateBase, t.alt);
    p.setColor(QPalette::Button, t.base);
    p.setColor(QPalette::WindowText, t.ink);
    p.setColor(QPalette::Text, t.ink);
    p.setColor(QPalette::ButtonText, t.ink);
    p.setColor(QPalette::BrightText, t.onAccent);
    p.setColor(QPalette::PlaceholderText, t.ink3);
    p.setColor(QPalette::Highlight, t.accent);
    p.setColor(QPalette::HighlightedText, t.onAccent);
    p.setColor(QPalette::Link, t.accent);
    p.setColor(QPalette::LinkVisited, t.accent);
    p.setColor(QPalette::ToolTipBase, t.base);
    p.setColor(QPalette::ToolTipText, t.ink);
    p.setColor(QPalette::Light, t.line2);
    p.setColor(QPalette::Midlight, t.line2);
    p.setColor(QPalette::Mid, t.line);
    p.setColor(QPalette::Dark, t.ink3);
    p.setColor(QPalette::Shadow, t.line);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, t.ink3);
    return p;
}

QString styleSheet(const Tokens& t, ThemeKind kind)
{
    QFile file(QStringLiteral(":/lockstep/themes/lockstep.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {}; // the palette alone is still usable
    QString sheet = QString::fromUtf8(file.readAll());
    const std::pair<const char*, QString> names[] = {
        // longer names first: "@line2" must not be read as "@line" followed by 2
        {"@accentHover", t.accentHover.name()},
        {"@onAccent", t.onAccent.name()},
        {"@accent", t.accent.name()},
        {"@redTint", t.redTint.name()},
        {"@redLine", t.redLine.name()},
        {"@red", t.red.name()},
        {"@amberTint", t.amberTint.name()},
        {"@amberLine", t.amberLine.name()},
        {"@amber", t.amber.name()},
        {"@green", t.green.name()},
        {"@line2", t.line2.name()},
        {"@line", t.line.name()},
        {"@ink2", t.ink2.name()},
        {"@ink3", t.ink3.name()},
        {"@ink", t.ink.name()},
        {"@base", t.base.name()},
        {"@win", t.win.name()},
        {"@alt", t.alt.name()},
        {"@tint", t.tint.name()},
        {"@theme", kind == ThemeKind::Dark ? QStringLiteral("dark") : QStringLiteral("light")},
    };
    for (const auto& [name, value] : names)
        sheet.replace(QLatin1String(name), value);
    return sheet;
}

double dotsPerPixel()
{
    const QScreen* screen = QGuiApplication::primaryScreen();
    return screen ? 72.0 / screen->logicalDotsPerInchY() : 0.75;
}

} // namespace

void apply(QApplication& app, ThemeKind kind)
{
    g_kind = kind;
    if (app.style()->objectName() != QLatin1String("fusion"))
        app.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QPixmapCache::clear();
    app.setFont(font(13));
    app.setPalette(palette(tokens()));
    app.setStyleSheet(styleSheet(tokens(), kind));
    QToolTip::setFont(font(12));
}

ThemeKind current()
{
    return g_kind;
}

const Tokens& tokens()
{
    return g_kind == ThemeKind::Dark ? kDark : kLight;
}

ThemeKind desktopPreference(const QApplication& app)
{
    return app.palette().color(QPalette::Window).lightness() < 128 ? ThemeKind::Dark : ThemeKind::Light;
}

QFont font(double px, bool semibold)
{
    QFont f;
    f.setFamilies(
        {QStringLiteral("Noto Sans"), QStringLiteral("Noto Sans CJK SC"), QStringLiteral("DejaVu Sans")});
    f.setPointSizeF(px * dotsPerPixel());
    f.setWeight(semibold ? QFont::DemiBold : QFont::Normal);
    return f;
}

QFont monoFont(double px)
{
    QFont f;
    f.setFamilies(
        {QStringLiteral("Noto Sans Mono"), QStringLiteral("DejaVu Sans Mono"), QStringLiteral("monospace")});
    f.setStyleHint(QFont::Monospace);
    f.setPointSizeF(px * dotsPerPixel());
    return f;
}

} // namespace lockstep::theme
