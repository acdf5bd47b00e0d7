// Report: the draft of the review, every check of every gate with number and limit, overrides and findings. Copied as
// Markdown; `lockstep-cli report` writes the files.
#pragma once

#include "ui/pages/page.h"

namespace lockstep {

class ChecksModel;
class DataTable;
class Pane;

class ReportPage : public Page
{
    Q_OBJECT

public:
    explicit ReportPage(const PageContext& context, QWidget* parent = nullptr);

private:
    void refresh();
    QString markdown() const;

    ChecksModel* checks_;
    DataTable *gatesTable_, *checksTable_;
    Pane* checksPane_;
    QLabel* empty_;
    QPushButton* copy_;
};

} // namespace lockstep
