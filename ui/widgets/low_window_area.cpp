#include "ui/widgets/low_window_area.h"

#include <algorithm>

namespace lockstep {

namespace {

// A scroll area gives a body with wrapped texts its preferred height, which of a table is that of all its rows. This one asks
// for what is needed at least, with the texts as wrapped at the width of the area.
class FirmLayout : public QBoxLayout
{
public:
    using QBoxLayout::QBoxLayout;
    bool hasHeightForWidth() const override { return asking_ && QBoxLayout::hasHeightForWidth(); }
    QSize minimumSize() const override
    {
        QSize size = QBoxLayout::minimumSize();
        const int width = parentWidget()->parentWidget()->width(); // of the viewport
        asking_ = true;
        size.setHeight(std::max(size.height(), minimumHeightForWidth(std::max(width, size.width()))));
        asking_ = false;
        return size;
    }

private:
    mutable bool asking_ = false;
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
