// The content of one checkpoint in tabs: keys, what a resumed run needs, records with their checksums, names its pickles
// mention.
#pragma once

#include "ui/models/checkpoint_verdict.h"

#include <QWidget>

class QStackedWidget;
class QTabBar;

namespace lockstep {

class CheckpointKeysView;

class CheckpointPartsView : public QWidget
{
    Q_OBJECT

public:
    explicit CheckpointPartsView(QWidget* parent = nullptr);

    void setTree(const CheckpointTreePtr& tree); // null: none
    void setVerdict(const CheckpointVerdict& verdict);
    CheckpointKeysView* keys() const { return keys_; }

private:
    FactTableModel* addTable(const QString& title, int stretch, const QString& none);

    QTabBar* tabs_;
    QStackedWidget* stack_;
    CheckpointKeysView* keys_;
    FactTableModel *resume_, *records_, *globals_;
};

} // namespace lockstep
