#include "core/logs/readers.h"
#include "core/store/trackio_database.h"

namespace lockstep::logs {

Format formatOf(InputFile& file, bool whole)
{
    const std::string name = file.path().substr(file.path().rfind('/') + 1);
    // What is named like it but too short or damaged to tell is one, with a problem.
    if (looksLikeTfEvents(file) || name.find(".tfevents.") != std::string::npos)
        return Format::TfEvents;
    if (looksLikeWandb(file) || name.ends_with(".wandb"))
        return Format::Wandb;
    constexpr std::string_view kSqlite("SQLite format 3\0", 16);
    if (file.peek(kSqlite.size()) == kSqlite)
        return isTrackioDatabase(file.path()) ? Format::Trackio : Format::None;
    if (looksLikeHfState(file) || name == "trainer_state.json")
        return Format::HfState;
    if (looksLikeLightningCsv(file)) // leaves the file behind its header
        return Format::LightningCsv;
    if (file.offset() > 0) {
        Result<InputFile> again = InputFile::open(file.path());
        return again && looksLikeTextLog(*again, whole) ? Format::Text : Format::None;
    }
    return looksLikeTextLog(file, whole) ? Format::Text : Format::None;
}

} // namespace lockstep::logs
