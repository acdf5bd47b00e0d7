// The answer to "what now?": state, sentence with its numbers, progress, and the only primary button of the Overview.
#pragma once

#include "ui/models/next_action.h"

#include <QFrame>

class QLabel;
class QProgressBar;
class QPushButton;

namespace lockstep {

class NextActionBox : public QFrame
{
    Q_OBJECT

public:
    explicit NextActionBox(QWidget* parent = nullptr);
    void setAction(const NextAction& action);
    // Progress of a command that was just given, until its answer comes.
    void setPending(bool pending);

Q_SIGNALS:
    void chosen(const lockstep::NextAction::Button& button);
    void cancelRequested();

private:
    void refresh();

    NextAction action_;
    bool pending_ = false;
    QLabel *shape_, *title_, *sentence_;
    QPushButton *primary_, *secondary_, *other_;
    QProgressBar* progress_;
};

} // namespace lockstep
