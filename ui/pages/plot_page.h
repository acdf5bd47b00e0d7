// A page of plots with a panel at the right: banner for errors, panel that narrow windows start without, picture of what is
// shown, theme changes.
#pragma once

#include "ui/pages/page.h"

class QSplitter;

namespace lockstep {

class Banner;

class PlotPage : public Page
{
    Q_OBJECT

public:
    PlotPage(const PageContext& context, const QString& title, QWidget* parent = nullptr);

    void togglePanel() override;
    // The panel, if a person has shown or hidden it. Call from the derived page.
    QJsonObject saveState() const override;
    void restoreState(const QJsonObject& state) override;
    bool escape() override; // the banner

protected:
    // Once, at the end of the body.
    void setContent(QWidget* plots, QWidget* panel);
    Banner* banner() const { return banner_; }
    // PNG of plots and panel in the project folder, else at home.
    void savePicture(const QString& fileName);
    virtual void themeChanged() = 0;

    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    Banner* banner_;
    QSplitter* columns_;
    QWidget* panel_ = nullptr;
    bool panelByUser_ = false;
};

} // namespace lockstep
