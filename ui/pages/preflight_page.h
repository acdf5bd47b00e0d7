// Preflight: the keys in which single process and DDP differ with the verdict of each, above the checks of environment and
// configuration. Enter or a click on a key shows the check that judges it.
#pragma once

#include "ui/pages/gate_page.h"

namespace lockstep {

class PreflightKeysModel;

class PreflightPage : public GatePage
{
    Q_OBJECT

public:
    explicit PreflightPage(const PageContext& context, QWidget* parent = nullptr);

protected:
    void gateShown(const GateInfo* gate) override;

private:
    PreflightKeysModel* keys_;
    Pane* pane_;
    DataTable* table_;
    QLabel *summary_, *error_;
    std::int64_t shownMs_ = 0; // when the gate that is shown was judged
};

} // namespace lockstep
