#include "ui/widgets/causal_strip.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kMargin = 16;
constexpr int kShape = 13;
constexpr int kGap = 14; // room for the chevron between cells

} // namespace

CausalStrip::CausalStrip(QWidget* parent) : QWidget(parent)
{
    setFixedHeight(56);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Causal chain"));
}

void CausalStrip::setCells(std::vector<Cell> cells)
{
    cells_ = std::move(cells);
    sentence_.clear();
    QStringList words;
    for (const Cell& cell : cells_)
        words << cell.title + QStringLiteral(": ") + cell.detail;
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    update();
}

void CausalStrip::setSentence(State state, const QString& sentence)
{
    cells_.clear();
    state_ = state;
    sentence_ = sentence;
    setAccessibleDescription(sentence);
    update();
}

int CausalStrip::titleWidth(const Cell& cell) const
{
    const bool broken = cell.state == State::Diverged;
    return QFontMetrics(theme::font(12.5, broken)).horizontalAdvance(cell.title) + kShape + 6 +
           (broken ? 18 : 4);
}

int CausalStrip::cellWidth(const Cell& cell) const
{
    const int detail = QFontMetrics(theme::font(11)).horizontalAdvance(cell.detail);
    return std::max(titleWidth(cell), detail + kShape + 6 + (cell.state == State::Diverged ? 18 : 4));
}

// All cells if they fit; else the longest details are left to the tooltip, one after the other, and where that is not enough
// as many cells stay as fit around the first broken one.
std::vector<CausalStrip::Placed> CausalStrip::place() const
{
    std::vector<Placed> placed;
    if (cells_.empty())
        return placed;
    const int room = width() - 2 * kMargin;
    std::vector<int> widths;
    int all = -kGap;
    for (const Cell& cell : cells_) {
        widths.push_back(cellWidth(cell));
        all += widths.back() + kGap;
    }
    while (all > room) { // what is broken keeps its words
        std::size_t longest = 0;
        int most = 0;
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            const int more = cells_[i].state == State::Diverged ? 0 : widths[i] - titleWidth(cells_[i]);
            if (more > most) {
                longest = i;
                most = more;
            }
        }
        if (most == 0)
            break;
        widths[longest] -= most;
        all -= most;
    }
    std::size_t begin = 0;
    std::size_t end = cells_.size();
    const auto total = [&] {
        int sum = -kGap;
        for (std::size_t i = begin; i < end; ++i)
            sum += widths[i] + kGap;
        return sum;
    };
    const auto broken =
        std::find_if(cells_.begin(), cells_.end(), [](const Cell& c) { return c.state == State::Diverged; });
    const std::size_t center = broken == cells_.end() ? 0 : std::size_t(broken - cells_.begin());
    while (total() > room && end - begin > 1) {
        if (center - begin > end - 1 - center)
            ++begin;
        else
            --end;
    }
    const int count = int(end - begin);
    const int air = count > 1 ? std::clamp((room - total()) / (count - 1), 0, 40) : 0;
    int x = kMargin;
    for (std::size_t i = begin; i < end; ++i) {
        placed.push_back({i, QRect(x, 6, widths[i], height() - 12)});
        x += widths[i] + kGap + air;
    }
    return placed;
}

void CausalStrip::paintEvent(QPaintEvent*)
{
    const Tokens& t = theme::tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (cells_.empty()) {
        paintState(painter, QRectF(kMargin + 4, (height() - 14) / 2.0, 14, 14), state_);
        painter.setFont(theme::font(13));
        painter.setPen(t.ink2);
        const QRect words = rect().adjusted(kMargin + (state_ == State::None ? 4 : 26), 0, -kMargin, 0);
        painter.drawText(words, Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(sentence_, Qt::ElideRight, words.width()));
        return;
    }
    const std::vector<Placed> placed = place();
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const Cell& cell = cells_[placed[i].cell];
        const QRect r = placed[i].rect;
        const bool broken = cell.state == State::Diverged;
        if (broken) {
            painter.setPen(t.red);
            painter.setBrush(t.redTint);
            painter.drawRoundedRect(QRectF(r).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
        }
        if (hasFocus() && current_ == int(placed[i].cell)) {
            painter.setPen(QPen(t.accent, 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(QRectF(r).adjusted(1, 1, -1, -1), 4, 4);
        }
        const int left = r.left() + (broken ? 9 : 0);
        paintState(painter, QRectF(left, r.top() + 7, kShape, kShape), cell.state);
        const QRect words = QRect(left + kShape + 6, r.top(), r.width(), r.height()).adjusted(0, 4, 0, -4);
        painter.setFont(theme::font(12.5, broken));
        painter.setPen(broken ? t.red : cell.state == State::Off ? t.ink3 : t.ink);
        painter.drawText(words, Qt::AlignTop | Qt::AlignLeft, cell.title);
        painter.setFont(theme::font(11));
        painter.setPen(broken ? t.red : t.ink3);
        const int chrome = kShape + 6 + (broken ? 9 : 0);
        if (broken || painter.fontMetrics().horizontalAdvance(cell.detail) <= r.width() - chrome)
            painter.drawText(
                words, Qt::AlignBottom | Qt::AlignLeft,
                painter.fontMetrics().elidedText(cell.detail, Qt::ElideRight, r.width() - chrome));
        if (i + 1 < placed.size()) {
            const double middle = (r.right() + placed[i + 1].rect.left()) / 2.0;
            paintIcon(painter, QRectF(middle - 4, height() / 2.0 - 4, 9, 9), QStringLiteral("chevron-right"),
                      t.line);
        }
    }
}

int CausalStrip::cellAt(const QPoint& pos) const
{
    for (const Placed& one : place())
        if (one.rect.adjusted(-4, 0, 4, 0).contains(pos))
            return int(one.cell);
    return -1;
}

void CausalStrip::mousePressEvent(QMouseEvent* event)
{
    const int cell = cellAt(event->pos());
    if (cell >= 0 && cells_[std::size_t(cell)].step >= 0)
        Q_EMIT stepChosen(cells_[std::size_t(cell)].step);
}

void CausalStrip::mouseMoveEvent(QMouseEvent* event)
{
    const int cell = cellAt(event->pos());
    setCursor(cell >= 0 && cells_[std::size_t(cell)].step >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void CausalStrip::keyPressEvent(QKeyEvent* event)
{
    const int count = int(cells_.size());
    if (count > 0 && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)) {
        current_ = std::clamp(current_ + (event->key() == Qt::Key_Right ? 1 : -1), 0, count - 1);
        update();
    } else if (count > 0 && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
        // Before the arrows chose a cell the broken one is meant.
        const auto broken = std::find_if(cells_.begin(), cells_.end(),
                                         [](const Cell& c) { return c.state == State::Diverged; });
        const int cell = current_ >= 0 && current_ < count ? current_ : int(broken - cells_.begin());
        if (cell < count && cells_[std::size_t(cell)].step >= 0)
            Q_EMIT stepChosen(cells_[std::size_t(cell)].step);
    } else {
        QWidget::keyPressEvent(event);
    }
}

bool CausalStrip::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const int cell = cellAt(help->pos());
        if (cell >= 0)
            QToolTip::showText(help->globalPos(),
                               cells_[std::size_t(cell)].title + QStringLiteral(": ") +
                                   cells_[std::size_t(cell)].detail,
                               this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

} // namespace lockstep
