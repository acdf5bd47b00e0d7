#include "core/ckpt/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep {
namespace {

alignas(64) constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void plainBlocks(std::uint32_t* state, const std::byte* data, std::size_t blocks)
{
    for (; blocks > 0; --blocks, data += 64) {
        std::uint32_t w[64];
        for (int i = 0; i < 16; ++i) {
            std::uint32_t v;
            std::memcpy(&v, data + 4 * i, 4);
            w[i] = __builtin_bswap32(v);
        }
        for (int i = 16; i < 64; ++i) {
            const std::uint32_t a = w[i - 15];
            const std::uint32_t b = w[i - 2];
            w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
                   (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
        }
        std::uint32_t s[8];
        std::memcpy(s, state, sizeof s);
        for (int i = 0; i < 64; ++i) {
            const std::uint32_t t1 = s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                                     ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRound[i] + w[i];
            const std::uint32_t t2 = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
                                     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            std::memmove(s + 1, s, 7 * sizeof *s);
            s[4] += t1;
            s[0] = t1 + t2;
        }
        for (int i = 0; i < 8; ++i)
            state[i] += s[i];
    }
}

#if defined(__x86_64__)
// The layout of the state registers (ABEF, CDGH) is Intel's: "Intel SHA Extensions", 2013.
__attribute__((target("sha,sse4.1,ssse3"))) void shaBlocks(std::uint32_t* state, const std::byte* data,
                                                           std::size_t blocks)
{
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state)), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; blocks > 0; --blocks, data += 64) {
        const __m128i abefBefore = abef;
        const __m128i cdghBefore = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; ++i)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i), order);
        for (int i = 0; i < 16; ++i) {
            if (i >= 4) {
                const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
                                                  _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
                w[i & 3] = _mm_sha256msg2_epu32(sum, w[(i + 3) & 3]);
            }
            const __m128i k =
                _mm_add_epi32(w[i & 3], _mm_load_si128(reinterpret_cast<const __m128i*>(kRound) + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
        }
        abef = _mm_add_epi32(abef, abefBefore);
        cdgh = _mm_add_epi32(cdgh, cdghBefore);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(high, low, 8));
}

bool hasSha()
{
    unsigned a = 7;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (b >> 29 & 1) != 0 && __builtin_cpu_supports("sse4.1");
}
#endif

void hashBlocks(std::uint32_t* state, const std::byte* data, std::size_t blocks)
{
#if defined(__x86_64__)
    static const bool fast = hasSha();
    if (fast) {
        shaBlocks(state, data, blocks);
        return;
    }
#endif
    plainBlocks(state, data, blocks);
}

} // namespace

void Sha256::update(std::span<const std::byte> bytes)
{
    total_ += bytes.size();
    if (used_ > 0) {
        const std::size_t take = std::min(bytes.size(), block_.size() - used_);
        std::copy_n(bytes.begin(), take, block_.begin() + static_cast<std::ptrdiff_t>(used_));
        used_ += take;
        bytes = bytes.subspan(take);
        if (used_ < block_.size())
            return;
        hashBlocks(state_.data(), block_.data(), 1);
        used_ = 0;
    }
    hashBlocks(state_.data(), bytes.data(), bytes.size() / 64);
    bytes = bytes.subspan(bytes.size() / 64 * 64);
    std::copy(bytes.begin(), bytes.end(), block_.begin());
    used_ = bytes.size();
}

std::string Sha256::hex()
{
    const std::uint64_t bits = __builtin_bswap64(total_ * 8);
    std::array<std::byte, 72> tail = {std::byte{0x80}};
    const std::size_t zeros = (used_ < 56 ? 56 : 120) - used_;
    update(std::span<const std::byte>(tail).first(zeros));
    update(std::as_bytes(std::span(&bits, 1)));
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint32_t word : state_)
        for (int shift = 28; shift >= 0; shift -= 4)
            text += digits[word >> shift & 15];
    return text;
}

} // namespace lockstep
