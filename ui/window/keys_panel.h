// F1: every key of the window on one card over the page. Not a dialog: Esc or F1 closes it, everything else goes on.
#pragma once

#include <QFrame>

namespace lockstep {

class KeysPanel : public QFrame
{
    Q_OBJECT

public:
    explicit KeysPanel(QWidget* parent);
    void toggle();
};

} // namespace lockstep
