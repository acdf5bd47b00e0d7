// Compiled with AVX-512 F, BW, DQ and VL; called only where the CPU has them.
#include "core/ckpt/block_kernels_impl.h"

namespace lockstep::kernels {
namespace {

struct Avx512 {
    using F = __m512;
    using I = __m512i;
    using D = __m512d;
    using Half = __m256i;
    static constexpr std::size_t kFloats = 16;

    static F loadF(const std::byte* p) { return _mm512_loadu_ps(p); }
    static I loadI(const std::byte* p) { return _mm512_loadu_si512(p); }
    static Half loadHalf(const std::byte* p)
    {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    static D widen(const std::byte* p)
    {
        return _mm512_cvtps_pd(_mm256_loadu_ps(reinterpret_cast<const float*>(p)));
    }
    static D firstOf(Half p) { return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(p, 16))); }
    static D secondOf(Half p)
    {
        const Half mask = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
        return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_and_si256(p, mask)));
    }
    static F minF(F a, F b) { return _mm512_min_ps(a, b); }
    static F maxF(F a, F b) { return _mm512_max_ps(a, b); }
    static std::uint32_t countNeF(F a, F b) { return count(_mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ)); }
    static std::uint32_t countNe32(F a, F b)
    {
        return count(_mm512_cmpneq_epi32_mask(_mm512_castps_si512(a), _mm512_castps_si512(b)));
    }
    static void countNe16(I a, I b, std::uint32_t& bits, std::uint32_t& values)
    {
        const __mmask32 differ = _mm512_cmpneq_epi16_mask(a, b);
        const I magnitude = _mm512_set1_epi16(0x7fff);
        // Both zero, with either sign, is the same value.
        const __mmask32 nonZero = _mm512_test_epi16_mask(_mm512_or_si512(a, b), magnitude);
        bits += count(differ);
        values += count(differ & nonZero);
    }
    static I ordered16(I x)
    {
        return _mm512_ternarylogic_epi64(x, _mm512_srai_epi16(x, 15), _mm512_set1_epi16(0x7fff), 0x78);
    }
    static I min16(I a, I b) { return _mm512_min_epi16(a, b); }
    static I max16(I a, I b) { return _mm512_max_epi16(a, b); }
    static D zero() { return _mm512_setzero_pd(); }
    static D fma(D x, D sum) { return _mm512_fmadd_pd(x, x, sum); }
    static D sub(D a, D b) { return _mm512_sub_pd(a, b); }
    static D magnitude(D x) { return _mm512_abs_pd(x); }
    static D max(D a, D b) { return _mm512_max_pd(a, b); }
    static double sum(D a, D b) { return _mm512_reduce_add_pd(_mm512_add_pd(a, b)); }
    static double largest(D a) { return _mm512_reduce_max_pd(a); }
    static float smallestF(F a) { return _mm512_reduce_min_ps(a); }
    static float largestF(F a) { return _mm512_reduce_max_ps(a); }
    static float smallest16(I a)
    {
        alignas(64) short lanes[32];
        _mm512_store_si512(lanes, a);
        short best = lanes[0];
        for (short lane : lanes)
            best = lane < best ? lane : best;
        return fromOrdered16(best);
    }
    static float largest16(I a)
    {
        alignas(64) short lanes[32];
        _mm512_store_si512(lanes, a);
        short best = lanes[0];
        for (short lane : lanes)
            best = lane > best ? lane : best;
        return fromOrdered16(best);
    }

private:
    static std::uint32_t count(unsigned mask) { return static_cast<std::uint32_t>(__builtin_popcount(mask)); }
};

} // namespace

const KernelSet kAvx512Kernels = makeKernels<Avx512>();

} // namespace lockstep::kernels
