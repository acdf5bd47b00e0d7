// Small widgets that every page is made of: labels by role, buttons, panes with a head, chips, banners, lines, code blocks.
#pragma once

#include "ui/models/roles.h"

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include <functional>

class QHBoxLayout;
class QVBoxLayout;

namespace lockstep {

// role: "title", "finding", "paneTitle", "section", "note", "hint", "secondary", "error", "code" (see lockstep.qss).
QLabel* label(const char* role, const QString& text = {}, QWidget* parent = nullptr);
QLabel* wrappedLabel(const char* role, const QString& text = {}, QWidget* parent = nullptr);

QPushButton* button(const QString& text, const QString& iconName = {}, QWidget* parent = nullptr);
QPushButton* primaryButton(const QString& text, const QString& iconName = {}, QWidget* parent = nullptr);
// Where there is no room for its words they become its tooltip. For buttons with an icon and fixed words.
void setIconOnly(QPushButton* button, bool on);
QPushButton* linkButton(const QString& text, QWidget* parent = nullptr);

QFrame* horizontalLine(QWidget* parent = nullptr);
QFrame* verticalLine(QWidget* parent = nullptr);

// Adjacent buttons of which one is checked, like "mean | spread | all".
QWidget* segmentedButtons(const QStringList& texts, int checked, const std::function<void(int)>& chosen,
                          QWidget* parent = nullptr);

// Text that is cut in the middle when it does not fit and whole in the tooltip. A list of hints may lose its last ones
// instead: half a hint is none.
class ElidedLabel : public QLabel
{
    Q_OBJECT

public:
    explicit ElidedLabel(const char* role, QWidget* parent = nullptr,
                         Qt::TextElideMode mode = Qt::ElideMiddle);
    void setFullText(const QString& text);
    QString fullText() const { return text_; }
    void setWholePhrases(bool on) { wholePhrases_ = on; } // of a text with commas
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString text_;
    Qt::TextElideMode mode_;
    bool wholePhrases_ = false;
};

// A bordered box with a head line: title left, whatever the page adds right, content below.
class Pane : public QFrame
{
    Q_OBJECT

public:
    explicit Pane(const QString& title, QWidget* parent = nullptr);
    void setTitle(const QString& title);
    QHBoxLayout* head() const { return head_; }
    QVBoxLayout* body() const { return body_; }
    void addWidget(QWidget* widget, int stretch = 0);

private:
    ElidedLabel* title_;
    QHBoxLayout* head_;
    QVBoxLayout* body_;
};

// State shape and a word in a small frame.
class Chip : public QWidget
{
    Q_OBJECT

public:
    explicit Chip(QWidget* parent = nullptr);
    void setState(State state, const QString& text);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override; // where there is no room its text is cut, whole in the tooltip

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    State state_ = State::None;
    QString text_;
};

// Verdict or error at its place: shape, one sentence in 16/600, one of explanation, an optional button. Stays until the
// cause is gone.
class Banner : public QFrame
{
    Q_OBJECT

public:
    explicit Banner(QWidget* parent = nullptr);
    void showMessage(State state, const QString& headline, const QString& explanation = {},
                     const QString& buttonText = {});
    // A quiet line below: what was found to be fine, each with a tick. Kept until the next showMessage().
    void setNotes(const QStringList& notes);
    void clear();
    QString headline() const;

Q_SIGNALS:
    void buttonClicked();
    void dismissed();

private:
    QLabel* shape_;
    QLabel* headline_;
    QLabel* explanation_;
    QLabel* notes_;
    QPushButton* button_;
    QToolButton* close_;
    State state_ = State::None;
};

// Code to copy: monospace text with a copy button beside it.
class CodeBlock : public QFrame
{
    Q_OBJECT

public:
    explicit CodeBlock(QWidget* parent = nullptr);
    void setCode(const QString& code);

private:
    QLabel* code_;
};

} // namespace lockstep
