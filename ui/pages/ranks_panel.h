// The panel at the right of the Ranks page: one cell in numbers, and what has to be equal on all ranks.
#pragma once

#include "ui/models/roles.h"

#include <QFrame>

class QAbstractItemModel;
class QLabel;
class QPushButton;

namespace lockstep {

class Chip;
class DataTable;
class ElidedLabel;

class RanksPanel : public QFrame
{
    Q_OBJECT

public:
    RanksPanel(QAbstractItemModel* cell, QAbstractItemModel* equality, QWidget* parent = nullptr);

    // `headline`: the exact value of the cell; `judgement`: its distance and the limit.
    void showCell(int rank, qint64 step, const QString& headline, const QString& judgement, bool beyond,
                  bool pinned);
    void showNoCell();
    void setRanks(int ranks);

Q_SIGNALS:
    void closeRequested();
    void stepInCurves();

private:
    QLabel* title_;
    Chip* pinned_;
    QLabel *headline_, *judgement_, *equalityTitle_;
    DataTable *cell_, *equality_;
    QPushButton* curves_;
};

} // namespace lockstep
