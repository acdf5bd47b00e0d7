// LOCKSTEP_CLONES before a function: the compiler makes a version for AVX-512, AVX2 and plain x86-64, and the loader picks
// one. Only for loops whose result does not depend on the vector width: integer sums, fixed lanes without contraction.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define LOCKSTEP_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define LOCKSTEP_CLONES
#endif
