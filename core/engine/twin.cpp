#include "core/engine/trainer.h"

namespace lockstep {

TrainingEnd trainTwin(const TrainingSetup&)
{
    throw Failure{{ErrorKind::Usage, "--mode twin is not possible", "this version of the engine cannot do it",
                   "Use --mode ddp"}};
}

} // namespace lockstep
