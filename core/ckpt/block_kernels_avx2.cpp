// Compiled with AVX2 and FMA; called only where the CPU has them.
#include "core/ckpt/block_kernels_impl.h"

namespace lockstep::kernels {
namespace {

struct Avx2 {
    using F = __m256;
    using I = __m256i;
    using D = __m256d;
    using Half = __m128i;
    static constexpr std::size_t kFloats = 8;

    static F loadF(const std::byte* p) { return _mm256_loadu_ps(reinterpret_cast<const float*>(p)); }
    static I loadI(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
    static Half loadHalf(const std::byte* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
    static D widen(const std::byte* p)
    {
        return _mm256_cvtps_pd(_mm_loadu_ps(reinterpret_cast<const float*>(p)));
    }
    static D firstOf(Half p) { return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(p, 16))); }
    static D secondOf(Half p)
    {
        const Half mask = _mm_set1_epi32(static_cast<int>(0xffff0000u));
        return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_and_si128(p, mask)));
    }
    static F minF(F a, F b) { return _mm256_min_ps(a, b); }
    static F maxF(F a, F b) { return _mm256_max_ps(a, b); }
    static std::uint32_t countNeF(F a, F b)
    {
        return count(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NEQ_UQ)));
    }
    static std::uint32_t countNe32(F a, F b)
    {
        const I same = _mm256_cmpeq_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b));
        return 8 - count(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
    }
    static void countNe16(I a, I b, std::uint32_t& bits, std::uint32_t& values)
    {
        const I same = _mm256_cmpeq_epi16(a, b);
        const I magnitude = _mm256_and_si256(_mm256_or_si256(a, b), _mm256_set1_epi16(0x7fff));
        // Both zero, with either sign, is the same value.
        const I alike = _mm256_or_si256(same, _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256()));
        bits += 16 - count(_mm256_movemask_epi8(same)) / 2;
        values += 16 - count(_mm256_movemask_epi8(alike)) / 2;
    }
    static I ordered16(I x)
    {
        return _mm256_xor_si256(x, _mm256_and_si256(_mm256_srai_epi16(x, 15), _mm256_set1_epi16(0x7fff)));
    }
    static I min16(I a, I b) { return _mm256_min_epi16(a, b); }
    static I max16(I a, I b) { return _mm256_max_epi16(a, b); }
    static D zero() { return _mm256_setzero_pd(); }
    static D fma(D x, D sum) { return _mm256_fmadd_pd(x, x, sum); }
    static D sub(D a, D b) { return _mm256_sub_pd(a, b); }
    static D magnitude(D x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
    static D max(D a, D b) { return _mm256_max_pd(a, b); }
    static double sum(D a, D b)
    {
        alignas(32) double lanes[4];
        _mm256_store_pd(lanes, _mm256_add_pd(a, b));
        return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
    static double largest(D a)
    {
        alignas(32) double lanes[4];
        _mm256_store_pd(lanes, a);
        double best = lanes[0];
        for (double lane : lanes)
            best = lane > best ? lane : best;
        return best;
    }
    static float smallestF(F a)
    {
        alignas(32) float lanes[8];
        _mm256_store_ps(lanes, a);
        float best = lanes[0];
        for (float lane : lanes)
            best = lane < best ? lane : best;
        return best;
    }
    static float largestF(F a)
    {
        alignas(32) float lanes[8];
        _mm256_store_ps(lanes, a);
        float best = lanes[0];
        for (float lane : lanes)
            best = lane > best ? lane : best;
        return best;
    }
    static float smallest16(I a)
    {
        alignas(32) short lanes[16];
        _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), a);
        short best = lanes[0];
        for (short lane : lanes)
            best = lane < best ? lane : best;
        return fromOrdered16(best);
    }
    static float largest16(I a)
    {
        alignas(32) short lanes[16];
        _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), a);
        short best = lanes[0];
        for (short lane : lanes)
            best = lane > best ? lane : best;
        return fromOrdered16(best);
    }

private:
    static std::uint32_t count(int mask)
    {
        return static_cast<std::uint32_t>(__builtin_popcount(static_cast<unsigned>(mask)));
    }
};

} // namespace

const KernelSet kAvx2Kernels = makeKernels<Avx2>();

} // namespace lockstep::kernels
