// Work off the GUI thread with answers on it. One thread per QueryJobs, so a job may keep objects that must stay in one
// thread (a RunReader) between calls.
//
// Each start() or cancel() begins a new generation of its lane; answers of older generations are dropped, and long jobs
// ask `current()` between pieces of work and return early. GUI thread only, except inside jobs.
#pragma once

#include <QObject>
#include <QPointer>
#include <QThreadPool>

#include <atomic>
#include <memory>
#include <utility>

namespace lockstep {

class JobToken
{
public:
    bool current() const { return counter_->load(std::memory_order_relaxed) == generation_; }

private:
    friend class QueryJobs;
    JobToken(std::shared_ptr<std::atomic<quint64>> counter, quint64 generation)
        : counter_(std::move(counter)), generation_(generation)
    {
    }

    std::shared_ptr<std::atomic<quint64>> counter_;
    quint64 generation_;
};

class QueryJobs : public QObject
{
public:
    explicit QueryJobs(QObject* parent = nullptr);
    // Waits for the job that runs; its answer is dropped.
    ~QueryJobs() override;

    // work(const JobToken&) runs in the pool thread and returns a value; done(value) runs here unless it is outdated.
    template<typename Work, typename Done>
    void start(Work work, Done done)
    {
        run(JobToken(counter_, counter_->fetch_add(1) + 1), std::move(work), std::move(done));
    }

    // As start(), without outdating jobs in flight: for follow-up reads of the same generation.
    template<typename Work, typename Done>
    void startNext(Work work, Done done)
    {
        run(JobToken(counter_, counter_->load()), std::move(work), std::move(done));
    }

    void cancel() { counter_->fetch_add(1); }
    bool busy() const { return inFlight_ > 0; }

private:
    template<typename Work, typename Done>
    void run(JobToken token, Work work, Done done)
    {
        ++inFlight_;
        pool_.start([self = QPointer<QueryJobs>(this), token, work = std::move(work),
                     done = std::move(done)]() mutable {
            auto value = std::make_shared<decltype(work(token))>(work(token));
            // The destructor waits for this function, so `self` is alive here; the event itself is removed with it.
            QMetaObject::invokeMethod(
                self.data(),
                [self, token, value, done = std::move(done)]() mutable {
                    --self->inFlight_;
                    if (token.current())
                        done(std::move(*value));
                },
                Qt::QueuedConnection);
        });
    }

    std::shared_ptr<std::atomic<quint64>> counter_ = std::make_shared<std::atomic<quint64>>(0);
    int inFlight_ = 0;
    QThreadPool pool_;
};

} // namespace lockstep
