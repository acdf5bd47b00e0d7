#include "ui/models/series_loader.h"

#include "ui/models/format.h"

#include <algorithm>
#include <map>
#include <optional>

namespace lockstep {

namespace {

constexpr int kPollMs = 100;

} // namespace

struct SeriesLoader::Source {
    std::optional<RunReader> reader;
    std::int64_t version = -1;
    std::map<SeriesKey, std::int64_t> lastStep;
    bool started = false;

    Answer read(const SeriesRequest& request, const JobToken& token);
};

struct SeriesLoader::Answer {
    std::vector<SeriesRows> series;
    bool restart = false;
    QString error;
};

SeriesLoader::Answer SeriesLoader::Source::read(const SeriesRequest& request, const JobToken& token)
{
    Answer answer;
    if (!reader) {
        Result<RunReader> opened = RunReader::open(request.folder.toStdString());
        if (!opened) {
            // A run that was entered a moment ago has no run.db yet; the next look finds it.
            if (!request.live)
                answer.error = qs(opened.error().sentence());
            return answer;
        }
        reader.emplace(std::move(opened).value());
    }
    const std::int64_t current = reader->dataVersion();
    if (started && current == version)
        return answer;

    Result<std::vector<SeriesInfo>> known = reader->series();
    if (!known) {
        answer.error = qs(known.error().sentence());
        return answer;
    }
    for (const SeriesInfo& info : *known) {
        if (!token.current())
            return {}; // nothing is marked as read that was not delivered
        const bool wanted =
            info.key.index == 0 && std::find(request.quantities.begin(), request.quantities.end(),
                                             info.key.quantity) != request.quantities.end();
        const auto seen = lastStep.find(info.key);
        if (!wanted || (seen != lastStep.end() && seen->second >= info.lastStep))
            continue;
        Result<SeriesData> rows =
            reader->read(info.key, seen == lastStep.end() ? INT64_MIN : seen->second + 1);
        if (!rows) {
            answer.error = qs(rows.error().sentence());
            return answer;
        }
        if (rows->size() == 0)
            continue;
        answer.series.push_back({info.key, std::make_shared<const SeriesData>(std::move(rows).value())});
    }
    if (!token.current())
        return {};
    for (const SeriesRows& rows : answer.series)
        lastStep[rows.key] = rows.rows->steps.back();
    answer.restart = !started;
    started = true;
    version = current;
    return answer;
}

SeriesLoader::SeriesLoader(QObject* parent) : QObject(parent)
{
    qRegisterMetaType<std::vector<lockstep::SeriesRows>>();
    timer_.setInterval(kPollMs);
    connect(&timer_, &QTimer::timeout, this, &SeriesLoader::poll);
}

SeriesLoader::~SeriesLoader() = default;

void SeriesLoader::setRequests(std::vector<SeriesRequest> requests)
{
    const std::vector<SeriesRequest> before = std::exchange(requests_, std::move(requests));
    const auto find = [](const std::vector<SeriesRequest>& list, const QString& id) {
        return std::find_if(list.begin(), list.end(),
                            [&id](const SeriesRequest& r) { return r.runId == id; });
    };
    bool outdated = false;
    for (const SeriesRequest& old : before) {
        const auto now = find(requests_, old.runId);
        if (now != requests_.end() && now->quantities == old.quantities && now->folder == old.folder)
            continue;
        sources_.remove(old.runId);
        outdated = true;
    }
    if (outdated) {
        // Also drops answers for runs that stay: read those again from where they were delivered to. Their sources
        // may have noted rows of a dropped answer as read, so they start over.
        jobs_.cancel();
        if (jobs_.busy())
            sources_.clear();
    }
    bool live = false;
    for (const SeriesRequest& request : requests_) {
        live = live || request.live;
        const auto old = find(before, request.runId);
        const bool fresh = !sources_.contains(request.runId);
        const bool ended = old != before.end() && old->live && !request.live;
        if (fresh)
            sources_.insert(request.runId, std::make_shared<Source>());
        if (fresh || ended)
            read(request);
    }
    if (live)
        timer_.start();
    else
        timer_.stop();
}

void SeriesLoader::cancel()
{
    jobs_.cancel();
    timer_.stop();
}

void SeriesLoader::poll()
{
    if (jobs_.busy())
        return;
    for (const SeriesRequest& request : requests_)
        if (request.live)
            read(request);
}

void SeriesLoader::read(const SeriesRequest& request)
{
    jobs_.startNext([source = sources_.value(request.runId),
                     request](const JobToken& token) { return source->read(request, token); },
                    [this, id = request.runId, source = sources_.value(request.runId)](const Answer& answer) {
                        if (sources_.value(id) != source)
                            return; // asked for anew meanwhile
                        if (!answer.error.isEmpty())
                            Q_EMIT problem(id, answer.error);
                        else if (!answer.series.empty() || answer.restart)
                            Q_EMIT rowsArrived(id, answer.series, answer.restart);
                        if (!jobs_.busy())
                            Q_EMIT idle();
                    });
}

} // namespace lockstep
