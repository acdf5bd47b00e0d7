// Icons from resources/icons, tinted with the theme when they are painted, so they follow a change of theme.
#pragma once

#include "ui/models/roles.h"

#include <QIcon>
#include <QString>

class QPainter;
class QRectF;

namespace lockstep {

QColor toneColor(Tone tone);
// The state's colour: red, amber and green only where the design allows them.
QColor stateColor(State state);
QString stateIconName(State state);

// `name` is the file name without ".svg". An empty name gives a null icon.
QIcon icon(const QString& name, Tone tone = Tone::Normal);
QIcon onAccentIcon(const QString& name); // for primary buttons
QIcon stateIcon(State state);

void paintIcon(QPainter& painter, const QRectF& where, const QString& name, const QColor& color);
void paintState(QPainter& painter, const QRectF& where, State state);

} // namespace lockstep
