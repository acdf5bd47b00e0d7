#include "core/engine/embedded_data.h"

// The assembler puts the files into the read-only section; LOCKSTEP_DATA_ROOT is the source tree at build
// time.
#define LOCKSTEP_EMBED(symbol, path)                                                                         \
    asm(".section .rodata\n"                                                                                 \
        ".balign 16\n"                                                                                       \
        ".globl " #symbol "_begin\n" #symbol "_begin:\n"                                                     \
        ".incbin \"" LOCKSTEP_DATA_ROOT "/" path "\"\n"                                                      \
        ".globl " #symbol "_end\n" #symbol "_end:\n"                                                         \
        ".byte 0\n"                                                                                          \
        ".previous\n");                                                                                      \
    extern "C" const unsigned char symbol##_begin[];                                                         \
    extern "C" const unsigned char symbol##_end[];

LOCKSTEP_EMBED(lockstep_digits, "resources/data/digits.bin")
LOCKSTEP_EMBED(lockstep_text, "LICENSE")

namespace lockstep {

std::span<const unsigned char> embeddedDigits()
{
    return {lockstep_digits_begin, lockstep_digits_end};
}

std::string_view embeddedText()
{
    return {reinterpret_cast<const char*>(lockstep_text_begin),
            std::size_t(lockstep_text_end - lockstep_text_begin)};
}

} // namespace lockstep
