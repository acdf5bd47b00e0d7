#include "ui/window/page_registry.h"

#include "ui/pages/checkpoints_page.h"
#include "ui/pages/curves_page.h"
#include "ui/pages/data_page.h"
#include "ui/pages/gate_page.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/ranks_page.h"
#include "ui/pages/report_page.h"
#include "ui/pages/runs_page.h"

#include <QCoreApplication>

#include <array>

namespace lockstep {

namespace {

template<typename T>
Page* make(const PageContext& context)
{
    return new T(context);
}

std::function<Page*(const PageContext&)> gate(const char* phase)
{
    return [phase](const PageContext& context) { return new GatePage(context, QString::fromLatin1(phase)); };
}

const std::array kEntries = {
    // id, title, icon, key, is a phase, opens without a project, factory
    PageEntry{"preflight", QT_TRANSLATE_NOOP("lockstep::Pages", "Preflight"), nullptr, 0, true, false,
              gate("preflight")},
    PageEntry{"data", QT_TRANSLATE_NOOP("lockstep::Pages", "1 Data & sampler"), nullptr, 1, true, false,
              make<DataPage>},
    PageEntry{"gradients", QT_TRANSLATE_NOOP("lockstep::Pages", "2 Gradients & DDP wrap"), nullptr, 2, true,
              false, gate("gradients")},
    PageEntry{"precision", QT_TRANSLATE_NOOP("lockstep::Pages", "3 Precision & checkpoint"), nullptr, 3, true,
              false, gate("precision")},
    PageEntry{"drills", QT_TRANSLATE_NOOP("lockstep::Pages", "4 Drills & escape hatch"), nullptr, 4, true,
              false, gate("drills")},
    PageEntry{"report", QT_TRANSLATE_NOOP("lockstep::Pages", "Report"), nullptr, 5, true, false,
              make<ReportPage>},
    PageEntry{"overview", QT_TRANSLATE_NOOP("lockstep::Pages", "Overview"), "overview", 1, false, false,
              make<OverviewPage>},
    PageEntry{"curves", QT_TRANSLATE_NOOP("lockstep::Pages", "Curves"), "curves", 2, false, false,
              make<CurvesPage>},
    PageEntry{"ranks", QT_TRANSLATE_NOOP("lockstep::Pages", "Ranks"), "ranks", 3, false, false,
              make<RanksPage>},
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
