// The readers of core/logs, one file per format. Each goes through one file and puts what it finds into the collector;
// damage is a problem there. Private to core/logs.
#pragma once

#include "core/logs/input_file.h"
#include "core/logs/series_set.h"

#include <optional>
#include <string>

namespace lockstep::logs {

// What the place of a file says about it.
struct Origin {
    std::string run;         // name of the run for formats that do not store one
    std::optional<int> rank; // from a folder rank_N
    std::string file;        // as problems name it
};

enum class Format { None, TfEvents, Wandb, Trackio, HfState, LightningCsv, Text };

// By the first bytes; the name decides only where a file is too short or too damaged to tell. `whole`: read a text to its end
// in search of a line with numbers, otherwise some megabytes of it. The file is left somewhere in the middle.
Format formatOf(InputFile& file, bool whole);

// Files of one run are read in the order of this number, then by name: seconds since 1970 when the file was begun; 0: unknown.
double tfEventsBegin(InputFile& file);
double wandbBegin(InputFile& file);

bool looksLikeTfEvents(InputFile& file);
void readTfEvents(InputFile& file, const Origin& origin, Collector& out);
bool looksLikeWandb(InputFile& file);
void readWandb(InputFile& file, const Origin& origin, Collector& out);
void readTrackio(const std::string& path, const Origin& origin, Collector& out);
bool looksLikeHfState(InputFile& file);
void readHfState(InputFile& file, const Origin& origin, Collector& out);
bool looksLikeLightningCsv(InputFile& file);
void readLightningCsv(InputFile& file, const Origin& origin, Collector& out);
bool looksLikeTextLog(InputFile& file, bool whole);
void readTextLog(InputFile& file, const Origin& origin, Collector& out);

// One line of a text log without colours and launcher prefix. True: it holds numbers of that program.
using LineReader = bool (*)(std::string_view line, std::optional<int> rank, SeriesSet& out);
bool readMegatronLine(std::string_view line, std::optional<int> rank, SeriesSet& out);
bool readTorchtitanLine(std::string_view line, std::optional<int> rank, SeriesSet& out);

} // namespace lockstep::logs
