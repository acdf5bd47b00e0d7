// Overrides and findings, each as a card with a link to its page: they stay visible on the Overview to the end.
#pragma once

#include "ui/models/project_snapshot.h"

#include <QWidget>

class QVBoxLayout;

namespace lockstep {

class OverviewNotes : public QWidget
{
    Q_OBJECT

public:
    explicit OverviewNotes(QWidget* parent = nullptr);
    void setSnapshot(const ProjectSnapshot& snapshot);

Q_SIGNALS:
    void openRequested(const QString& pageId);

private:
    QVBoxLayout* column_;
    QString shown_; // what the cards say; they are made anew only when that changes
};

} // namespace lockstep
