#include "ui/pages/checkpoint_tensor_panel.h"

#include "ui/models/format.h"
#include "ui/plots/tensor_heat.h"
#include "ui/plots/tensor_histogram.h"
#include "ui/widgets/building_blocks.h"
#include "ui/widgets/data_table.h"
#include "ui/widgets/icons.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

namespace lockstep {

namespace {

constexpr int kWaitMs = 120;

} // namespace

CheckpointTensorPanel::CheckpointTensorPanel(QWidget* parent)
    : QWidget(parent),
      wait_(new QTimer(this)),
      title_(new ElidedLabel("paneTitle", this)),
      note_(label("note", {}, this)),
      problem_(wrappedLabel("secondary", {}, this)),
      histogram_(new TensorHistogram(this)),
      heat_(new TensorHeat(this)),
      table_(new DataTable(this)),
      slice_(new TensorSliceModel(this)),
      stack_(new QStackedWidget(this))
{
    setObjectName(QStringLiteral("tensorPanel"));
    wait_->setSingleShot(true);
    wait_->setInterval(kWaitMs);
    connect(wait_, &QTimer::timeout, this, &CheckpointTensorPanel::read);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(16, 5, 8, 5);
    bar->setSpacing(12);
    auto* hide = new QToolButton(this);
    hide->setIcon(icon(QStringLiteral("close"), Tone::Secondary));
    hide->setToolTip(tr("Close the view of the tensor (Esc)"));
    hide->setAccessibleName(tr("Close the view of the tensor"));
    bar->addWidget(title_, 1);
    bar->addWidget(note_);
    bar->addWidget(segmentedButtons(
        {tr("picture"), tr("values")}, choice_,
        [this](int choice) {
            choice_ = choice;
            if (problem_->text().isEmpty())
                stack_->setCurrentIndex(choice);
        },
        this));
    bar->addWidget(hide);
    column->addWidget(horizontalLine(this));
    column->addLayout(bar);
    column->addWidget(horizontalLine(this));
    auto* pictures = new QWidget(this);
    auto* row = new QHBoxLayout(pictures);
    row->setContentsMargins(4, 2, 4, 2);
    row->addWidget(histogram_, 1);
    row->addWidget(heat_, 1);
    stack_->addWidget(pictures);
    table_->setObjectName(QStringLiteral("tensorSlice"));
    table_->setAccessibleName(tr("First values of the tensor"));
    table_->setModel(slice_);
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    table_->verticalHeader()->show();
    table_->setSelectionBehavior(QAbstractItemView::SelectItems);
    stack_->addWidget(table_);
    problem_->setAlignment(Qt::AlignCenter);
    stack_->addWidget(problem_);
    column->addWidget(stack_, 1);
    connect(hide, &QToolButton::clicked, this, &CheckpointTensorPanel::closeRequested);
    this->hide();
}

void CheckpointTensorPanel::showTensor(const CheckpointTreePtr& tree, int row)
{
    const bool tensor = tree && tree->checkpoint && row >= 0 && tree->rows[std::size_t(row)].tensor;
    if (!tensor) {
        close();
        return;
    }
    if (tree == tree_ && row == row_)
        return;
    tree_ = tree;
    row_ = row;
    wait_->start();
}

void CheckpointTensorPanel::close()
{
    wait_->stop();
    jobs_.cancel();
    tree_.reset();
    row_ = -1;
    slice_->setView(nullptr);
    hide();
}

bool CheckpointTensorPanel::busy() const
{
    return wait_->isActive() || jobs_.busy();
}

void CheckpointTensorPanel::read()
{
    jobs_.start(
        [tree = tree_, row = std::size_t(row_)](const JobToken& token) {
            return readTensorView(tree, row, [&token] { return token.current(); });
        },
        [this](const TensorViewPtr& view) { showView(view); });
}

void CheckpointTensorPanel::showView(const TensorViewPtr& view)
{
    title_->setFullText(view->key);
    note_->setText(tr("%1, %2").arg(view->type, view->shape.isEmpty() ? tr("scalar") : view->shape));
    problem_->setText(view->error);
    const bool usable = view->error.isEmpty();
    slice_->setView(usable ? view : nullptr);
    if (usable) {
        histogram_->setBins(view->bins, view->low, view->high, view->nan, view->inf);
        heat_->setCells(view->heat, view->heatRows, view->heatColumns, view->allRows, view->allColumns);
        if (view->rows < view->allRows || view->columns < view->allColumns)
            note_->setText(note_->text() + QStringLiteral(", ") +
                           tr("values: first %1 x %2").arg(view->rows).arg(view->columns));
        stack_->setCurrentIndex(choice_);
    } else {
        stack_->setCurrentWidget(problem_);
    }
    show();
}

} // namespace lockstep
