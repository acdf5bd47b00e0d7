#include "ui/window/page_registry.h"

#include "ui/pages/checkpoints_page.h"
#include "ui/pages/curves_page.h"
#include "ui/pages/data_page.h"
#include "ui/pages/drills_page.h"
#include "ui/pages/findings_page.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/preflight_page.h"
#include "ui/pages/ranks_page.h"
#include "ui/pages/report_page.h"
#include "ui/pages/runs_page.h"
#include "ui/pages/trained_gate_page.h"

#include <QCoreApplication>

#include <array>

namespace lockstep {

namespace {

template<typename T>
Page* make(const PageContext& context)
{
    return new T(context);
}

// Of a page that serves several phases.
template<typename T>
std::function<Page*(const PageContext&)> phase(const char* id)
{
    return [id](const PageContext& context) { return new T(context, QString::fromLatin1(id)); };
}

const std::array kEntries = {
    // id, title, icon, key, is a phase, opens without a project, factory
    PageEntry{"preflight", QT_TRANSLATE_NOOP("lockstep::Pages", "Preflight"), nullptr, 0, true, false,
              make<PreflightPage>},
    PageEntry{"data", QT_TRANSLATE_NOOP("lockstep::Pages", "1 Data & sampler"), nullptr, 1, true, false,
              make<DataPage>},
    PageEntry{"gradients", QT_TRANSLATE_NOOP("lockstep::Pages", "2 Gradients & DDP wrap"), nullptr, 2, true,
              false, phase<TrainedGatePage>("gradients")},
    PageEntry{"precision", QT_TRANSLATE_NOOP("lockstep::Pages", "3 Precision & checkpoint"), nullptr, 3, true,
              false, phase<TrainedGatePage>("precision")},
    PageEntry{"drills", QT_TRANSLATE_NOOP("lockstep::Pages", "4 Drills & escape hatch"), nullptr, 4, true,
              false, make<DrillsPage>},
    PageEntry{"report", QT_TRANSLATE_NOOP("lockstep::Pages", "Report"), nullptr, 5, true, false,
              make<ReportPage>},
    PageEntry{"overview", QT_TRANSLATE_NOOP("lockstep::Pages", "Overview"), "overview", 1, false, false,
              make<OverviewPage>},
    PageEntry{"curves", QT_TRANSLATE_NOOP("lockstep::Pages", "Curves"), "curves", 2, false, false,
              make<CurvesPage>},
    PageEntry{"ranks", QT_TRANSLATE_NOOP("lockstep::Pages", "Ranks"), "ranks", 3, false, false,
              make<RanksPage>},
    PageEntry{"findings", QT_TRANSLATE_NOOP("lockstep::Pages", "Findings"), "findings", 5, false, false,
              make<FindingsPage>},
    PageEntry{"checkpoints", QT_TRANSLATE_NOOP("lockstep::Pages", "Checkpoints"), "checkpoints", 6, false,
              true, make<CheckpointsPage>},
    PageEntry{"runs", QT_TRANSLATE_NOOP("lockstep::Pages", "Runs"), "runs", 7, false, false, make<RunsPage>},
};

} // namespace

std::span<const PageEntry> pageEntries()
{
    return kEntries;
}

const PageEntry* pageEntry(const QString& id)
{
    for (const PageEntry& entry : kEntries)
        if (QLatin1String(entry.id) == id)
            return &entry;
    return nullptr;
}

QString pageTitle(const PageEntry& entry)
{
    return QCoreApplication::translate("lockstep::Pages", entry.title);
}

} // namespace lockstep
