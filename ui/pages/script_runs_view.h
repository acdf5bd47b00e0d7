// The runs that "Use my script" has started: which waits, which trains, how far, and the way on to Curves and Findings.
#pragma once

#include "ui/pages/page.h"

namespace lockstep {

class RunStrip;

class ScriptRunsView : public QWidget
{
    Q_OBJECT

public:
    explicit ScriptRunsView(const PageContext& context, QWidget* parent = nullptr);

    // From now on these, in this order; hidden until then. Call it before they are started.
    void follow(const QList<ScriptRun>& scripts);
    bool following() const { return !followed_.isEmpty(); }

Q_SIGNALS:
    void openRequested(const QString& pageId, const QString& argument);

private:
    struct Followed {
        ScriptRun script;
        QString id; // empty: not begun
    };
    void refresh();

    PageContext context_;
    RunStrip* strip_;
    QPushButton *curves_, *findings_;
    QList<Followed> followed_;
    bool gaveUp_ = false; // one did not begin, so those after it will not
    QStringList begun_;   // ids that were reported since follow()
    QStringList chosen_;  // of those, what was handed to the selection: a later choice of the user's stays
};

} // namespace lockstep
