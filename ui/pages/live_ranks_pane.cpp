#include "ui/pages/live_ranks_pane.h"

#include "ui/models/format.h"
#include "ui/models/live_ranks_model.h"
#include "ui/plots/plot_theme.h"
#include "ui/widgets/cell_delegate.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/theme.h"

#include <QHBoxLayout>
#include <QPainter>

#include <algorithm>

namespace lockstep {

namespace {

constexpr int kMostRows = 8; // then it scrolls

// One hue from dark to light, as the ranks; waiting is hatched, so that it is told without colour too.
QBrush brushOf(LiveRank::Part part)
{
    const PlotTheme t = PlotTheme::forApplication();
    switch (part) {
    case LiveRank::Data:
        return theme::tokens().ink3;
    case LiveRank::Forward:
        return t.ranks[0];
    case LiveRank::Backward:
        return t.ranks[1];
    case LiveRank::Wait:
        return QBrush(theme::tokens().ink3, Qt::BDiagPattern);
    default:
        return t.ranks[3];
    }
}

class SplitDelegate : public CellDelegate
{
public:
    using CellDelegate::CellDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        CellDelegate::paint(painter, option, index);
        const QVariantList shares = index.data(LiveRanksModel::kSharesRole).toList();
        const QRectF bar = QRectF(option.rect).adjusted(10, 6, -10, -7);
        double left = bar.left();
        for (int part = 0; part < shares.size(); ++part) {
            const double width = std::min(shares[part].toDouble() * bar.width(), bar.right() - left);
            painter->fillRect(QRectF(left, bar.top(), width, bar.height()), brushOf(LiveRank::Part(part)));
            left += width;
        }
    }
};

class Swatch : public QWidget
{
public:
    Swatch(LiveRank::Part part, QWidget* parent) : QWidget(parent), part_(part) { setFixedSize(12, 12); }

protected:
    void paintEvent(QPaintEvent*) override { QPainter(this).fillRect(rect(), brushOf(part_)); }

private:
    LiveRank::Part part_;
};

} // namespace

LiveRanksPane::LiveRanksPane(QWidget* parent)
    : Pane(tr("Ranks, live"), parent), model_(new LiveRanksModel(this)), table_(new DataTable(this))
{
    for (int part = 0; part < LiveRank::PartCount; ++part) {
        head()->addWidget(new Swatch(LiveRank::Part(part), this));
        head()->addWidget(label("hint", LiveRanksModel::partTitle(LiveRank::Part(part)), this));
    }
    table_->setObjectName(QStringLiteral("liveRanks"));
    table_->setAccessibleName(tr("Ranks, live"));
    table_->setModel(model_);
    table_->setItemDelegateForColumn(LiveRanksModel::Split, new SplitDelegate(24, table_));
    table_->setColumnPlan(LiveRanksModel::Split, {LiveRanksModel::Parameters, LiveRanksModel::GradNorm,
                                                  LiveRanksModel::Milliseconds});
    table_->setFixedRows(kMostRows);
    table_->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    addWidget(table_);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(model_, &QAbstractItemModel::modelReset, this, [this] { setVisible(model_->rowCount() > 0); });
    connect(model_, &QAbstractItemModel::modelReset, table_, &QWidget::updateGeometry);
    hide();
}

void LiveRanksPane::setRun(const RunEntry* run)
{
    if (run)
        setTitle(run->running() ? tr("Ranks, live: %1").arg(run->name())
                                : tr("Ranks of %1").arg(run->name()));
    model_->setRun(run);
}

bool LiveRanksPane::busy() const
{
    return model_->busy();
}

} // namespace lockstep
