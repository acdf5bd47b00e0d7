#include "ui/widgets/building_blocks.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QButtonGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPainter>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>

namespace lockstep {

QLabel* label(const char* role, const QString& text, QWidget* parent)
{
    auto* made = new QLabel(text, parent);
    made->setProperty("role", QString::fromLatin1(role));
    made->setTextFormat(Qt::PlainText);
    return made;
}

QLabel* wrappedLabel(const char* role, const QString& text, QWidget* parent)
{
    QLabel* made = label(role, text, parent);
    made->setWordWrap(true);
    made->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return made;
}

QPushButton* button(const QString& text, const QString& iconName, QWidget* parent)
{
    auto* made = new QPushButton(icon(iconName), text, parent);
    made->setIconSize({18, 14});
    return made;
}

QPushButton* primaryButton(const QString& text, const QString& iconName, QWidget* parent)
{
    auto* made = new QPushButton(text, parent);
    if (!iconName.isEmpty())
        made->setIcon(onAccentIcon(iconName));
    made->setIconSize({18, 14});
    made->setProperty("primary", true);
    return made;
}

void setIconOnly(QPushButton* button, bool on)
{
    constexpr const char* kWords = "words";
    if (on == button->property(kWords).isValid())
        return;
    if (on) {
        button->setProperty(kWords, button->text());
        button->setAccessibleName(button->text());
        if (button->toolTip().isEmpty())
            button->setToolTip(button->text());
        button->setText({});
    } else {
        button->setText(button->property(kWords).toString());
        button->setProperty(kWords, {});
    }
}

QPushButton* linkButton(const QString& text, QWidget* parent)
{
    auto* made = new QPushButton(text, parent);
    made->setProperty("link", true);
    made->setCursor(Qt::PointingHandCursor);
    made->setFlat(true);
    return made;
}

QFrame* horizontalLine(QWidget* parent)
{
    auto* line = new QFrame(parent);
    line->setObjectName(QStringLiteral("line"));
    line->setFixedHeight(1);
    return line;
}

QFrame* verticalLine(QWidget* parent)
{
    auto* line = new QFrame(parent);
    line->setObjectName(QStringLiteral("vline"));
    line->setFixedWidth(1);
    return line;
}

QWidget* segmentedButtons(const QStringList& texts, int checked, const std::function<void(int)>& chosen,
                          QWidget* parent)
{
    auto* box = new QWidget(parent);
    auto* layout = new QHBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* group = new QButtonGroup(box);
    for (int i = 0; i < texts.size(); ++i) {
        auto* one = new QToolButton(box);
        one->setText(texts[i]);
        one->setCheckable(true);
        one->setChecked(i == checked);
        one->setFocusPolicy(Qt::StrongFocus);
        one->setProperty("segment", i == 0 ? "first" : i == texts.size() - 1 ? "last" : "true");
        group->addButton(one, i);
        layout->addWidget(one);
    }
    QObject::connect(group, &QButtonGroup::idClicked, box, chosen);
    return box;
}

ElidedLabel::ElidedLabel(const char* role, QWidget* parent, Qt::TextElideMode mode)
    : QLabel(parent), mode_(mode)
{
    setProperty("role", QString::fromLatin1(role));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

void ElidedLabel::setFullText(const QString& text)
{
    if (text == text_)
        return;
    text_ = text;
    setToolTip(text);
    setAccessibleName(text);
    updateGeometry();
    update();
}

QSize ElidedLabel::sizeHint() const
{
    return {fontMetrics().horizontalAdvance(text_) + 2, fontMetrics().height() + 2};
}

QSize ElidedLabel::minimumSizeHint() const
{
    return {40, fontMetrics().height() + 2};
}

void ElidedLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    ensurePolished();
    painter.setPen(palette().color(foregroundRole()));
    const QRect area = contentsRect();
    QString text = text_;
    while (wholePhrases_ && !text.isEmpty() && fontMetrics().horizontalAdvance(text) > area.width())
        text.truncate(std::max<qsizetype>({text.lastIndexOf(QLatin1String(", ")),
                                           text.lastIndexOf(QChar(0xFF0C)), 0})); // also a Chinese comma
    painter.drawText(area, int(alignment()) | Qt::TextSingleLine,
                     fontMetrics().elidedText(text, mode_, area.width()));
}

Pane::Pane(const QString& title, QWidget* parent)
    : QFrame(parent), title_(new ElidedLabel("paneTitle", this, Qt::ElideRight))
{
    title_->setFullText(title);
    title_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    setObjectName(QStringLiteral("pane"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(1, 1, 1, 1);
    column->setSpacing(0);
    auto* bar = new QWidget(this);
    bar->setFixedHeight(32);
    head_ = new QHBoxLayout(bar);
    head_->setContentsMargins(12, 0, 8, 0);
    head_->setSpacing(8);
    head_->addWidget(title_);
    head_->addStretch(1);
    body_ = new QVBoxLayout;
    body_->setContentsMargins(0, 0, 0, 0);
    body_->setSpacing(0);
    column->addWidget(bar);
    column->addWidget(horizontalLine(this));
    column->addLayout(body_, 1);
}

void Pane::setTitle(const QString& title)
{
    title_->setFullText(title);
}

void Pane::addWidget(QWidget* widget, int stretch)
{
    body_->addWidget(widget, stretch);
}

Chip::Chip(QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    setFont(theme::font(12));
}

void Chip::setState(State state, const QString& text)
{
    setToolTip(text);
    state_ = state;
    text_ = text;
    setAccessibleName(text);
    setVisible(!text.isEmpty());
    updateGeometry();
    update();
}

QSize Chip::sizeHint() const
{
    return {QFontMetrics(theme::font(12, true)).horizontalAdvance(text_) + (state_ == State::None ? 16 : 34),
            21};
}

QSize Chip::minimumSizeHint() const
{
    constexpr int kAFewLetters = 96;
    const QSize whole = sizeHint();
    return {std::min(whole.width(), kAFewLetters), whole.height()};
}

void Chip::paintEvent(QPaintEvent*)
{
    const Tokens& t = theme::tokens();
    const bool red = state_ == State::Diverged || state_ == State::Failed;
    const bool amber = state_ == State::Overridden;
    const bool accent = state_ == State::Running;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(red ? t.redLine : amber ? t.amberLine : accent ? t.tint : t.line);
    painter.setBrush(red ? t.redTint : amber ? t.amberTint : accent ? t.tint : t.base);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    int left = 8;
    if (state_ != State::None) {
        paintState(painter, QRectF(left, (height() - 12) / 2.0, 12, 12), state_);
        left += 18;
    }
    painter.setFont(theme::font(12, red || amber || accent));
    painter.setPen(red || amber || accent ? stateColor(state_) : t.ink2);
    const QRect room = rect().adjusted(left, 0, -4, 0);
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(text_, Qt::ElideRight, room.width()));
}

Banner::Banner(QWidget* parent)
    : QFrame(parent),
      shape_(new QLabel(this)),
      headline_(wrappedLabel("finding", {}, this)),
      explanation_(wrappedLabel("secondary", {}, this)),
      notes_(wrappedLabel("note", {}, this)),
      button_(button({}, {}, this)),
      close_(new QToolButton(this))
{
    setObjectName(QStringLiteral("banner"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 12, 12, 12);
    row->setSpacing(10);
    auto* words = new QVBoxLayout;
    words->setSpacing(4);
    words->addWidget(headline_);
    words->addWidget(explanation_);
    words->addWidget(notes_);
    notes_->hide();
    close_->setIcon(icon(QStringLiteral("close"), Tone::Secondary));
    close_->setAccessibleName(tr("Close this message"));
    close_->setToolTip(tr("Close this message"));
    row->addWidget(shape_, 0, Qt::AlignTop);
    row->addLayout(words, 1);
    row->addWidget(button_, 0, Qt::AlignVCenter);
    row->addWidget(close_, 0, Qt::AlignTop);
    connect(button_, &QPushButton::clicked, this, &Banner::buttonClicked);
    connect(close_, &QToolButton::clicked, this, [this] {
        clear();
        Q_EMIT dismissed();
    });
    hide();
}

void Banner::showMessage(State state, const QString& headline, const QString& explanation,
                         const QString& buttonText)
{
    state_ = state;
    const bool red = state == State::Diverged || state == State::Failed;
    setProperty("tone", red ? "red" : state == State::Overridden ? "amber" : "neutral");
    style()->unpolish(this);
    style()->polish(this);
    shape_->setPixmap(stateIcon(state).pixmap(16, 16));
    shape_->setVisible(state != State::None);
    headline_->setText(headline);
    explanation_->setText(explanation);
    explanation_->setVisible(!explanation.isEmpty());
    notes_->hide();
    button_->setText(buttonText);
    button_->setVisible(!buttonText.isEmpty());
    setAccessibleName(headline);
    show();
}

void Banner::setNotes(const QStringList& notes)
{
    // Breaks between checks, not inside one.
    QStringList whole;
    for (const QString& note : notes)
        whole << QStringLiteral("\u2713\u00a0") + QString(note).replace(QLatin1Char(' '), QChar(0x00a0));
    notes_->setText(whole.join(QStringLiteral("    ")));
    notes_->setVisible(!notes.isEmpty());
}

void Banner::clear()
{
    headline_->clear();
    hide();
}

QString Banner::headline() const
{
    return headline_->text();
}

CodeBlock::CodeBlock(QWidget* parent) : QFrame(parent), code_(label("code", {}, this))
{
    code_->setFont(theme::monoFont(12));
    code_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    code_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    code_->setWordWrap(true);
    auto* copy = new QToolButton(this);
    copy->setIcon(icon(QStringLiteral("copy"), Tone::Secondary));
    copy->setToolTip(tr("Copy"));
    copy->setAccessibleName(tr("Copy"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    row->addWidget(code_, 1);
    row->addWidget(copy, 0, Qt::AlignTop);
    connect(copy, &QToolButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(code_->text()); });
}

void CodeBlock::setCode(const QString& code)
{
    code_->setText(code);
}

} // namespace lockstep
