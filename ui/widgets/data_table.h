// A read-only table of whole rows. Columns take the width of their content; the rest goes to one column; when the width
// is not enough, columns are dropped by priority, never cut.
#pragma once

#include <QTableView>

namespace lockstep {

class DataTable : public QTableView
{
    Q_OBJECT

public:
    explicit DataTable(QWidget* parent = nullptr, int rowHeight = 24);

    void setModel(QAbstractItemModel* model) override;
    // `stretch`: the column that takes what is left. `dropOrder`: what is left out where there is no room, the first one first,
    // and where all its cells are empty. Others always stay.
    void setColumnPlan(int stretch, std::vector<int> dropOrder);
    // These columns may hold long texts: where the width is not enough they are first narrowed, their text elided in the
    // middle (the tooltip has all of it). The stretch column keeps `stretchMinimum` pixels; below that the table scrolls.
    void setLongTexts(std::vector<int> columns, int stretchMinimum);
    // Columns of the model that this table never shows.
    void setHiddenColumns(std::vector<int> columns);
    // As high as its rows (at most `rows` of them), without a scroll bar.
    void setFixedRows(int rows);
    // Shown in the middle while there are no rows.
    void setEmptyText(const QString& text) { emptyText_ = text; }
    QString currentId() const; // IdRole of the current row
    void selectId(const QString& id);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void currentIdChanged(const QString& id);
    void activatedId(const QString& id); // Enter or double click

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

private:
    void layoutColumns();
    void scheduleLayout();

    QString emptyText_;
    int rowHeight_;
    int stretch_ = -1;
    int fixedRows_ = -1;
    bool scheduled_ = false;
    std::vector<int> hidden_;
    std::vector<int> dropOrder_;
    std::vector<int> long_;
    int stretchMinimum_ = 60;
    std::vector<int> widths_; // widest content seen per column: columns do not jump while a run reports
};

} // namespace lockstep
