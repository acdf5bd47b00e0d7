#include "ui/widgets/icons.h"

#include "ui/widgets/theme.h"

#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QSvgRenderer>

#include <functional>

namespace lockstep {

namespace {

QByteArray source(const QString& name)
{
    static QHash<QString, QByteArray> cache;
    auto it = cache.constFind(name);
    if (it == cache.constEnd()) {
        QFile file(QStringLiteral(":/lockstep/icons/%1.svg").arg(name));
        it = cache.insert(name, file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray());
    }
    return *it;
}

// Asks for its colour at each paint.
class TintedEngine : public QIconEngine
{
public:
    TintedEngine(QString name, std::function<QColor()> color)
        : name_(std::move(name)), color_(std::move(color))
    {
    }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        // Buttons ask for a little more width than height: the rest is the gap to their text.
        const int side = std::min(rect.width(), rect.height());
        const QRect square(rect.left() + (rect.width() > side ? 0 : (rect.width() - side) / 2),
                           rect.top() + (rect.height() - side) / 2, side, side);
        paintIcon(*painter, square, name_, mode == QIcon::Disabled ? theme::tokens().ink3 : color_());
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }

    QIconEngine* clone() const override { return new TintedEngine(*this); }

private:
    QString name_;
    std::function<QColor()> color_;
};

} // namespace

QColor toneColor(Tone tone)
{
    const Tokens& t = theme::tokens();
    switch (tone) {
    case Tone::Normal:
        return t.ink;
    case Tone::Secondary:
        return t.ink2;
    case Tone::Hint:
        return t.ink3;
    case Tone::Red:
        return t.red;
    case Tone::Amber:
        return t.amber;
    case Tone::Green:
        return t.green;
    case Tone::Accent:
        return t.accent;
    }
    return t.ink;
}

QColor stateColor(State state)
{
    switch (state) {
    case State::Diverged:
    case State::Failed:
    case State::Follows:
        return toneColor(Tone::Red);
    case State::Overridden:
        return toneColor(Tone::Amber);
    case State::Passed:
        return toneColor(Tone::Green);
    case State::Running:
        return toneColor(Tone::Accent);
    case State::Holds:
        return toneColor(Tone::Secondary);
    case State::None:
    case State::Waiting:
    case State::Closed:
    case State::CannotCompare:
    case State::Off:
        return toneColor(Tone::Hint);
    }
    return toneColor(Tone::Hint);
}

QString stateIconName(State state)
{
    switch (state) {
    case State::None:
        return {};
    case State::Diverged:
    case State::Failed:
        return QStringLiteral("diverged");
    case State::Overridden:
        return QStringLiteral("overridden");
    case State::Passed:
        return QStringLiteral("passed");
    case State::Holds:
        return QStringLiteral("holds");
    case State::Running:
        return QStringLiteral("running");
    case State::Waiting:
        return QStringLiteral("waiting");
    case State::Closed:
        return QStringLiteral("closed");
    case State::CannotCompare:
        return QStringLiteral("cannot-compare");
    case State::Follows:
        return QStringLiteral("follows");
    case State::Off:
        return QStringLiteral("dash");
    }
    return {};
}

QIcon icon(const QString& name, Tone tone)
{
    return name.isEmpty() ? QIcon() : QIcon(new TintedEngine(name, [tone] { return toneColor(tone); }));
}

QIcon onAccentIcon(const QString& name)
{
    return QIcon(new TintedEngine(name, [] { return theme::tokens().onAccent; }));
}

QIcon stateIcon(State state)
{
    const QString name = stateIconName(state);
    return name.isEmpty() ? QIcon() : QIcon(new TintedEngine(name, [state] { return stateColor(state); }));
}

void paintIcon(QPainter& painter, const QRectF& where, const QString& name, const QColor& color)
{
    QByteArray svg = source(name);
    if (svg.isEmpty())
        return;
    svg.replace("currentColor", color.name().toLatin1());
    svg.replace("\"base\"", '"' + theme::tokens().base.name().toLatin1() + '"');
    QSvgRenderer renderer(svg);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    renderer.render(&painter, where);
    painter.restore();
}

void paintState(QPainter& painter, const QRectF& where, State state)
{
    const QString name = stateIconName(state);
    if (!name.isEmpty())
        paintIcon(painter, where, name, stateColor(state));
}

} // namespace lockstep
