// What every target does with a checkpoint it got: list it, read every byte, write the manifest. No answer is wrong here; a crash,
// a hang, an allocation out of proportion or undefined behaviour is.
#pragma once

#include "core/ckpt/manifest.h"
#include "core/ckpt/open.h"
#include "core/ckpt/walk.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace lockstep {

inline std::span<const std::byte> fuzzBytes(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const std::byte*>(data), size};
}

inline void lookThrough(Checkpoint& c)
{
    for (const TensorLeaf& leaf : listTensors(c))
        if (printable(leaf.name).find('\x1b') != std::string::npos)
            std::abort(); // an escape sequence would reach the terminal
    ManifestOptions options;
    options.threads = 1;
    manifestJson(c, options);
}

} // namespace lockstep
