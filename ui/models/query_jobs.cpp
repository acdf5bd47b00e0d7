#include "ui/models/query_jobs.h"

namespace lockstep {

QueryJobs::QueryJobs(QObject* parent) : QObject(parent)
{
    pool_.setMaxThreadCount(1);
    pool_.setExpiryTimeout(-1);
}

QueryJobs::~QueryJobs()
{
    cancel();
    pool_.clear();
    pool_.waitForDone();
}

} // namespace lockstep
