#include "ui/pages/page.h"

#include "ui/widgets/building_blocks.h"

namespace lockstep {

Page::Page(const PageContext& context, const QString& title, QWidget* parent)
    : QWidget(parent),
      context_(context),
      title_(label("title", title, this)),
      subtitle_(new ElidedLabel("secondary", this, Qt::ElideRight)),
      headStart_(new QHBoxLayout),
      headActions_(new QHBoxLayout),
      body_(new QVBoxLayout)
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    auto* head = new QWidget(this);
    head->setFixedHeight(56);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(20, 0, 16, 0);
    row->setSpacing(12);
    headStart_->setSpacing(8);
    headActions_->setSpacing(8);
    row->addWidget(title_);
    row->addLayout(headStart_);
    row->addWidget(subtitle_, 1);
    row->addLayout(headActions_);
    body_->setContentsMargins(0, 0, 0, 0);
    body_->setSpacing(0);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(head);
    column->addWidget(horizontalLine(this));
    column->addLayout(body_, 1);
    setAccessibleName(title);
    setFocusPolicy(Qt::ClickFocus);
}

void Page::open(const QString&)
{
    setFocus();
}

void Page::setTitle(const QString& title)
{
    title_->setText(title);
    setAccessibleName(title);
}

void Page::setSubtitle(const QString& text)
{
    subtitle_->setFullText(text);
}

} // namespace lockstep
