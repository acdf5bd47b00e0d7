#include "ui/pages/causal_chain.h"

#include "ui/widgets/causal_strip.h"

#include <QCoreApplication>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::CausalChain)
};

} // namespace

void showChain(CausalStrip& strip, const RunComparisonPtr& comparison, const QString& nameA,
               const QString& nameB)
{
    if (!comparison) {
        strip.setSentence(State::Running, Tr::tr("Comparing %1 with %2").arg(nameB, nameA));
    } else if (comparison->links.empty()) {
        strip.setSentence(State::CannotCompare, comparison->sentence);
    } else {
        std::vector<CausalStrip::Cell> cells;
        for (const LinkRow& link : comparison->links)
            cells.push_back({link.state, link.title, link.detail, link.firstStep});
        strip.setCells(std::move(cells));
    }
}

} // namespace lockstep
