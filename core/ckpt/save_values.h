// Values of a checkpoint as values of the new file: plain types, containers shared as they were, names changed, foreign objects
// replaced by their plain contents. What is replaced or left out is noted.
#pragma once

#include "core/ckpt/parts.h"
#include "core/ckpt/save_tensors.h"

#include <unordered_map>
#include <unordered_set>

namespace lockstep {

class ValueSaver
{
public:
    // The references must outlive the saver and everything it made.
    ValueSaver(const Checkpoint& checkpoint, const ConvertOptions& options, const Parts& parts);

    // Everything below `from`; `path` names it in notes. After an error the result is incomplete: see error().
    SaveValue value(Value from, const std::string& path, int depth);
    // The state dict alone; for a pickled module it is rebuilt from its parts.
    SaveDict stateDict(const ModelPart& part);
    // The new name of a key.
    std::string rename(const std::string& name) const;
    // False for tensors that ConvertOptions::keep leaves out.
    bool keeps(std::uint32_t tensor) const
    {
        return !options_.keep || options_.keep(checkpoint_.tensors[tensor]);
    }

    TensorSaver& tensors() { return tensors_; }
    void note(std::string text); // once each, at most 200
    void fail(Error error);      // the first one counts
    const std::optional<Error>& error() const { return error_; }
    // renamed, notes and keys; the saver is used up.
    ConvertReport takeReport();

    static Error collision(const std::string& name); // two keys would get this name

private:
    SaveValue container(Value from, const std::string& path, int depth);
    SaveValue sequence(Value from, const std::string& path, int depth);
    SaveValue dict(Value from, const std::string& path, int depth);
    SaveDict metadata(Value state);
    SaveValue renamedModules(Value modules);
    SaveValue object(Value from, const std::string& path, int depth);
    SaveValue tensor(std::uint32_t index, const std::string& path, int depth);
    SaveValue numpy(Value from, const std::string& path);
    SaveValue named(Value from, const std::string& what, const std::string& path);

    const Checkpoint& checkpoint_;
    const ConvertOptions& options_;
    TensorSaver tensors_;
    std::unordered_set<NodeId> stateDicts_;
    std::unordered_map<NodeId, SaveValue> made_;
    std::unordered_set<NodeId> open_; // on the way down: a value that contains itself
    ConvertReport report_;
    std::optional<Error> error_;
};

} // namespace lockstep
