#include "ui/widgets/low_window_area.h"

namespace lockstep {

namespace {

// A scroll area gives a body with wrapped texts its preferred height, which of a table is that of all its rows.
class FirmLayout : public QBoxLayout
{
public:
    using QBoxLayout::QBoxLayout;
    bool hasHeightForWidth() const override { return false; }
};

} // namespace

LowWindowArea::LowWindowArea(QBoxLayout::Direction direction, QWidget* parent) : QScrollArea(parent)
{
    auto* body = new QWidget(this);
    body->setObjectName(QStringLiteral("scrollBody"));
    content_ = new FirmLayout(direction, body);
    content_->setContentsMargins(20, 16, 16, 16);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidget(body);
}

} // namespace lockstep
