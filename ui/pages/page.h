// What every page of the window is: a head of 56 px (title, subtitle, actions) over a body. A page reads models and calls
// RunCommands; it knows neither the store nor other pages. To add one, derive from Page and add one line to
// ui/window/page_registry.cpp; the rail, the keys, the session and the screenshots pick it up from there.
#pragma once

#include "ui/models/run_commands.h"
#include "ui/models/run_selection.h"

#include <QHBoxLayout>
#include <QJsonObject>
#include <QVBoxLayout>
#include <QWidget>

class QLabel;
class QPushButton;
class QUndoStack;

namespace lockstep {

class ComparisonModel;
class ElidedLabel;
class GatesModel;
class ProjectModel;
class RunsModel;

// What the window lends to its pages. Everything outlives them.
struct PageContext {
    ProjectModel& project;
    RunsModel& runs;
    GatesModel& gates;
    ComparisonModel& comparisons;
    RunSelection& selection;
    RunCommands& commands;
    QUndoStack& undo; // Ctrl+Z of the window
};

class Page : public QWidget
{
    Q_OBJECT

public:
    Page(const PageContext& context, const QString& title, QWidget* parent = nullptr);

    // Called when the page comes up; `argument` says what to show ("run:ddp-w2-01", "step:41", a path), may be empty.
    virtual void open(const QString& argument);
    // Part of DIR/session.json: zoom, filter, splitter positions. Restoring must accept anything, also nothing.
    virtual QJsonObject saveState() const { return {}; }
    virtual void restoreState(const QJsonObject&) {}
    // Esc: close the innermost thing that is open. False: there was nothing.
    virtual bool escape() { return false; }
    // F4: show or hide the panel at the right. D: jump to the first divergent step. L: next y scale.
    virtual void togglePanel() {}
    virtual void jumpToDivergence() {}
    virtual void nextScale() {}
    // True while something is still being read; screenshots wait for it.
    virtual bool busy() const { return false; }

Q_SIGNALS:
    void openRequested(const QString& pageId, const QString& argument);
    // For the right side of the status bar; empty clears it.
    void statusTextChanged(const QString& text);

protected:
    const PageContext& context() const { return context_; }
    void setTitle(const QString& title);
    void setSubtitle(const QString& text);
    QHBoxLayout* headStart() const { return headStart_; } // after the title: chips
    QHBoxLayout* headActions() const { return headActions_; }
    QVBoxLayout* body() const { return body_; }

private:
    PageContext context_;
    QLabel* title_;
    ElidedLabel* subtitle_;
    QHBoxLayout* headStart_;
    QHBoxLayout* headActions_;
    QVBoxLayout* body_;
};

} // namespace lockstep
