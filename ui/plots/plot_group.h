// Ties the plots of a page: one x range, one cursor, one follow mode, and the history behind "undo zoom". The
// views must outlive the group or be destroyed with it; a destroyed view leaves the group by itself. GUI
// thread only.
#pragma once

#include <QObject>
#include <QPointer>

#include <optional>
#include <utility>
#include <vector>

namespace lockstep {

class CurveView;
class HeatmapView;
class NavigatorView;

class PlotGroup : public QObject
{
    Q_OBJECT
public:
    explicit PlotGroup(QObject* parent = nullptr);

    void add(CurveView* view);
    void add(NavigatorView* view);
    void add(HeatmapView* view);

    // Sets all views and remembers the range before it. The signals below are emitted for it, too.
    void setXRange(double lower, double upper);
    void setCursorStep(std::optional<qint64> step);
    void setFollowing(bool following);
    // Every step of every curve view; call again after setSeries() to follow a run that grows.
    void fit();
    std::pair<double, double> xRange() const { return range_; }
    std::optional<qint64> cursorStep() const { return cursor_; }
    bool following() const { return following_; }

    bool canUndoZoom() const { return !past_.empty(); }
    bool canRedoZoom() const { return !future_.empty(); }
    void undoZoom();
    void redoZoom();

Q_SIGNALS:
    void xRangeChanged(double lower, double upper);
    void cursorStepChanged(std::optional<qint64> step);
    void followingChanged(bool following);
    void hoverTextChanged(const QString& text);
    void zoomHistoryChanged();

private:
    void apply(double lower, double upper);
    void remember();

    std::vector<QPointer<CurveView>> curves_;
    std::vector<QPointer<NavigatorView>> navigators_;
    std::vector<QPointer<HeatmapView>> heatmaps_;
    std::pair<double, double> range_{0, 1};
    std::optional<qint64> cursor_;
    bool following_ = false;
    std::vector<std::pair<double, double>> past_, future_;
    qint64 lastChangeMs_ = 0; // changes of one gesture share an entry
};

} // namespace lockstep
