// The body of a page that fills a high window and scrolls in a low one: nothing in it becomes lower than it needs at least,
// and nothing higher than the window as long as all of it fits. Tables in it scroll by themselves.
#pragma once

#include <QBoxLayout>
#include <QScrollArea>

namespace lockstep {

class LowWindowArea : public QScrollArea
{
    Q_OBJECT

public:
    explicit LowWindowArea(QBoxLayout::Direction direction, QWidget* parent = nullptr);
    QBoxLayout* content() const { return content_; }

private:
    QBoxLayout* content_;
};

} // namespace lockstep
