// Plots as files: the pictures below each other as SVG or PNG, and the stored values as CSV.
#pragma once

#include "ui/plots/series_snapshot.h"

#include <QString>

#include <vector>

namespace lockstep {

class CurveView;

// Empty: written. Else what went wrong, as the system says it. The file appears whole or not at all.
QString savePlotsSvg(const std::vector<CurveView*>& views, const QString& path);
QString savePlotsPng(const std::vector<CurveView*>& views, const QString& path);

struct CsvColumn {
    QString title;
    SeriesSnapshot::Ptr data; // null: an empty column
};
// One row per step that any column has, every stored value, shortest decimal that reads back to the same double; RFC 4180.
// Any thread. Empty: written.
QString saveCurvesCsv(const std::vector<CsvColumn>& columns, const QString& path);

} // namespace lockstep
