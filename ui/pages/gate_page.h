// A phase of the migration: the one thing it changes, its checks with number and limit, and what to do when one fails.
// Serves every phase that has no page of its own.
#pragma once

#include "ui/pages/page.h"

class QLineEdit;
class QProgressBar;
class QStackedWidget;

namespace lockstep {

class Banner;
class ChecksModel;
class Chip;
class CodeBlock;
class DataTable;
class Pane;
struct PhaseStatus;
struct ProjectSnapshot;
struct GateInfo;
struct GateCheck;

class GatePage : public Page
{
    Q_OBJECT

public:
    GatePage(const PageContext& context, const QString& phase, QWidget* parent = nullptr);
    void open(const QString& argument) override;
    bool escape() override;

protected:
    // For pages that show more than checks. The column of the open phase holds banner, override bar and checks, in this
    // order; the detail column what is said about the current check.
    QVBoxLayout* column() const { return column_; }
    QVBoxLayout* detailColumn() const { return detailColumn_; }
    // A column at the right of everything, of a page that has more to say than checks.
    void addSide(QWidget* side);
    void refresh();
    void selectCheck(const QString& id); // empty: the current one stays
    // After refresh(); nullptr: not judged yet. And whenever another check becomes current.
    virtual void gateShown(const GateInfo*) {}
    virtual void checkShown(const GateCheck&) {}

private:
    void build();
    void showCheck(int row);
    std::vector<GateCheck> plannedRows(const ProjectSnapshot& snapshot) const;
    const PhaseStatus& status() const;

    QString phase_;
    ChecksModel* checks_;
    Chip* chip_;
    QPushButton *run_, *override_, *applyOverride_;
    QProgressBar* progress_;
    QPushButton* cancel_;
    Banner* banner_;
    Banner* earlier_;  // what was overridden before this phase
    QStringList read_; // of these: what was dismissed
    QWidget* above_ = nullptr;
    QStackedWidget* stack_;
    QVBoxLayout *column_ = nullptr, *detailColumn_ = nullptr;
    QBoxLayout* whole_ = nullptr; // column_, then sides
    QLabel *closedTitle_, *closedText_, *closedChecks_, *emptyText_;
    QWidget* overrideBar_;
    QLineEdit* reason_;
    DataTable* table_;
    Pane *checksPane_, *detail_;
    QLabel *count_, *judgedOn_ = nullptr, *detailSentence_, *detailWhere_, *evidence_, *fixTitle_;
    CodeBlock* fix_;
};

} // namespace lockstep
