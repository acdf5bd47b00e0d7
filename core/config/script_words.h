// What the words of a user's command say: python, torchrun and every launcher that takes a script or a module with -m.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

// Place of the script, or of the -m before a module that is the script. `python -m torch.distributed.run train.py`: the place
// of train.py. -1: neither.
std::ptrdiff_t placeOfScript(const std::vector<std::string>& words);
// The word at that place is the -m before a module.
bool isModuleOption(const std::string& word);
// "train" for a command with train.py or -m pkg.train; "script" without one.
std::string scriptName(const std::vector<std::string>& words);
// Ranks the command will start: what --nproc-per-node or --num_processes and --nnodes say; 1 without them. 0: they say
// something that only the launcher understands ("gpu"), or no possible number.
int ranksOfCommand(const std::vector<std::string>& words);
// The line that a shell reads back as these words.
std::string commandLineOf(const std::vector<std::string>& words);

} // namespace lockstep
