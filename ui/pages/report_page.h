// Report: the draft of the review, every check of every gate with number and limit. Copied as Markdown, saved as a file by
// `lockstep-cli report`.
#pragma once

#include "ui/pages/page.h"

namespace lockstep {

class Banner;
class ChecksModel;
class FindingsModel;
class DataTable;
class Pane;

class ReportPage : public Page
{
    Q_OBJECT

public:
    explicit ReportPage(const PageContext& context, QWidget* parent = nullptr);

private:
    void refresh();
    void save(const QString& form); // the ending: html, md, json, xml
    QString markdown() const;

    ChecksModel* checks_;
    FindingsModel* findings_;
    DataTable *gatesTable_, *findingsTable_, *checksTable_;
    Pane* checksPane_;
    QLabel* empty_;
    Pane* findingsPane_;
    Banner *banner_ = nullptr, *overrides_ = nullptr;
    QPushButton *copy_, *save_ = nullptr, *moreFindings_ = nullptr;
};

} // namespace lockstep
