// Statistics and element diff against a plain reference in long double, over random bit patterns of every
// type.
#include "core/ckpt/block_kernels.h"
#include "core/ckpt/element_decode.h"
#include "core/ckpt/element_diff.h"

#include <QTest>
#include <cmath>
#include <random>

using namespace lockstep;

Q_DECLARE_METATYPE(lockstep::DType)

namespace {

using Buffer = std::vector<std::byte>;

bool sameNumber(const ExactNumber& a, const ExactNumber& b)
{
    if (a.index() != b.index())
        return false;
    if (const double* x = std::get_if<double>(&a))
        return *x == std::get<double>(b);
    return a == b;
}

// What the corpus README says, element by element, with one long double sum (64-bit mantissa, 15-bit
// exponent).
struct Reference {
    std::uint64_t nan = 0, inf = 0;
    ExactNumber min, max;
    long double squares = 0;
};

Reference reference(DType dtype, const Buffer& bytes)
{
    Reference r;
    const std::size_t size = itemSize(dtype);
    const std::size_t n = bytes.size() / size;
    const auto range = [&](ExactNumber v) {
        if (r.min.index() == 0 || v < r.min)
            r.min = v;
        if (r.max.index() == 0 || r.max < v)
            r.max = v;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const std::byte* p = bytes.data() + i * size;
        if (isComplex(dtype)) {
            double v[2];
            decodeComplex(dtype, p, 1, v);
            r.nan += std::isnan(v[0]) || std::isnan(v[1]);
            r.inf += std::isinf(v[0]) || std::isinf(v[1]);
            if (std::isfinite(v[0]) && std::isfinite(v[1]))
                r.squares += static_cast<long double>(v[0]) * v[0] + static_cast<long double>(v[1]) * v[1];
        } else if (isFloat(dtype)) {
            double v;
            decodeToDouble(dtype, p, 1, &v);
            r.nan += std::isnan(v);
            r.inf += std::isinf(v);
            if (!std::isnan(v))
                range(v);
            if (std::isfinite(v))
                r.squares += static_cast<long double>(v) * v;
        } else {
            withIntegerType(dtype, [&](auto zero) {
                using T = decltype(zero);
                const T v = loadUnaligned<T>(p);
                if constexpr (std::is_signed_v<T>)
                    range(static_cast<std::int64_t>(v));
                else
                    range(static_cast<std::uint64_t>(v));
                r.squares += static_cast<long double>(v) * v;
            });
        }
    }
    return r;
}

Buffer randomBytes(std::mt19937_64& random, std::size_t count)
{
    Buffer bytes(count);
    for (std::byte& b : bytes)
        b = static_cast<std::byte>(random());
    return bytes;
}

// Clears the top exponent bit so that no element is NaN or infinite.
void makeFinite(DType dtype, Buffer& bytes)
{
    const std::size_t size = dtype == DType::Complex64 ? 4 : dtype == DType::Complex128 ? 8 : itemSize(dtype);
    for (std::size_t i = size - 1; i < bytes.size(); i += size)
        bytes[i] &= std::byte{0xbf};
}

const DType kTypes[] = {DType::Float64,       DType::Float32,    DType::Float16,        DType::BFloat16,
                        DType::Float8E4M3FN,  DType::Float8E5M2, DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ,
                        DType::Float8E8M0FNU, DType::Complex128, DType::Complex64,      DType::Complex32,
                        DType::Int64,         DType::Int32,      DType::Int16,          DType::Int8,
                        DType::UInt64,        DType::UInt32,     DType::UInt16,         DType::UInt8,
                        DType::Bool,          DType::QInt32,     DType::QInt8,          DType::QUInt8};

} // namespace

class TestCkptStats : public QObject
{
    Q_OBJECT

private:
    static void addTypes()
    {
        QTest::addColumn<DType>("dtype");
        for (const DType dtype : kTypes)
            QTest::newRow(std::string(dtypeInfo(dtype).name).c_str()) << dtype;
    }
    static void check(DType dtype, const Buffer& bytes, const ElementStats& got)
    {
        const Reference want = reference(dtype, bytes);
        QCOMPARE(got.elements, static_cast<std::uint64_t>(bytes.size() / itemSize(dtype)));
        QCOMPARE(got.nan, want.nan);
        QCOMPARE(got.inf, want.inf);
        QVERIFY(sameNumber(got.min, want.min));
        QVERIFY(sameNumber(got.max, want.max));
        const long double norm = std::sqrt(want.squares);
        QVERIFY2(
            std::abs(got.l2() - norm) <= 1e-13L * norm || (norm > 1.8e308L && std::isinf(got.l2())),
            qPrintable(QStringLiteral("%1 not %2").arg(got.l2(), 0, 'g', 17).arg(double(norm), 0, 'g', 17)));
    }

private Q_SLOTS:
    void statisticsOfAnyBits_data() { addTypes(); }
    void statisticsOfAnyBits();
    void diffOfAnyBits_data() { addTypes(); }
    void diffOfAnyBits();
    void vectorAndScalarKernelsAgree();
    void normNeitherOverflowsNorVanishes();
    void mixedIntegersAreComparedExactly();
    void integerAgainstFloatIsComparedAsDouble();
    void negativeZeroIsEqualInValueAndNotInBits();
    void packedTypesAreComparedByBytes();
    void emptyHasNoRange();
};

void TestCkptStats::statisticsOfAnyBits()
{
    QFETCH(DType, dtype);
    std::mt19937_64 random(5);
    for (int round = 0; round < 40; ++round) {
        const std::size_t n = round < 10 ? static_cast<std::size_t>(round) : random() % 20000;
        Buffer bytes = randomBytes(random, n * itemSize(dtype));
        if (round % 2)
            makeFinite(dtype, bytes);
        ElementStats whole, parts;
        accumulate(dtype, bytes, whole);
        check(dtype, bytes, whole);
        // In two parts, from an unaligned address.
        Buffer shifted(bytes.size() + 1);
        std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
        const std::size_t cut = n / 3 * itemSize(dtype);
        ElementStats second;
        accumulate(dtype, {shifted.data() + 1, cut}, parts);
        accumulate(dtype, {shifted.data() + 1 + cut, bytes.size() - cut}, second);
        parts.merge(second);
        check(dtype, bytes, parts);
    }
}

void TestCkptStats::diffOfAnyBits()
{
    QFETCH(DType, dtype);
    std::mt19937_64 random(6);
    const std::size_t size = itemSize(dtype);
    for (int round = 0; round < 40; ++round) {
        const std::size_t n = round < 10 ? static_cast<std::size_t>(round) : random() % 15000;
        Buffer a = randomBytes(random, n * size);
        if (round % 2)
            makeFinite(dtype, a);
        Buffer b = a;
        // Some rounds differ everywhere, some in few places, some not at all.
        if (round % 4 == 0)
            b = randomBytes(random, n * size);
        for (int k = 0; n > 0 && round % 4 == 1 && k < 5; ++k)
            b[random() % b.size()] ^= std::byte{1};
        ElementDiff got;
        accumulateDiff(dtype, a.data(), dtype, b.data(), n, got);
        check(dtype, a, got.a);
        check(dtype, b, got.b);
        std::uint64_t values = 0, bits = 0, nonfinite = 0;
        long double largest = -1;
        for (std::size_t i = 0; i < n; ++i) {
            const std::byte* p = a.data() + i * size;
            const std::byte* q = b.data() + i * size;
            bits += std::memcmp(p, q, size) != 0;
            if (isFloat(dtype) || isComplex(dtype)) {
                double x[2] = {}, y[2] = {};
                isComplex(dtype) ? decodeComplex(dtype, p, 1, x) : decodeToDouble(dtype, p, 1, x);
                isComplex(dtype) ? decodeComplex(dtype, q, 1, y) : decodeToDouble(dtype, q, 1, y);
                const bool nanX = std::isnan(x[0]) || std::isnan(x[1]),
                           nanY = std::isnan(y[0]) || std::isnan(y[1]);
                const bool finite =
                    std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(y[0]) && std::isfinite(y[1]);
                const bool differ = (x[0] != y[0] || x[1] != y[1]) && !(nanX && nanY);
                values += differ;
                nonfinite += differ && !finite;
                if (finite)
                    largest = std::max<long double>(largest, std::hypot(x[0] - y[0], x[1] - y[1]));
            } else {
                withIntegerType(dtype, [&](auto zero) {
                    using T = decltype(zero);
                    const __int128 x = loadUnaligned<T>(p), y = loadUnaligned<T>(q);
                    values += x != y;
                    largest = std::max(largest, static_cast<long double>(x > y ? x - y : y - x));
                });
            }
        }
        QCOMPARE(got.valuesDiffer, values);
        QCOMPARE(got.bitsDiffer, bits);
        QCOMPARE(got.nonfiniteMismatch, nonfinite);
        if (largest < 0)
            QCOMPARE(got.maxAbs.index(), std::size_t{0});
        else if (const auto* exact = std::get_if<std::uint64_t>(&got.maxAbs))
            QVERIFY(static_cast<long double>(*exact) == largest);
        else
            QVERIFY(std::get<double>(got.maxAbs) == static_cast<double>(largest));
    }
}

void TestCkptStats::vectorAndScalarKernelsAgree()
{
#if defined(__x86_64__)
    using namespace kernels;
    std::mt19937_64 random(8);
    for (int round = 0; round < 200; ++round) {
        const std::size_t n = kStep * (1 + random() % (kBlock / kStep));
        Buffer a = randomBytes(random, n * 4), b = randomBytes(random, n * 4);
        makeFinite(DType::BFloat16, a); // also keeps float32 finite
        makeFinite(DType::BFloat16, b);
        if (round % 3 == 0)
            std::copy(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin());
        FastBlock wide[2], narrow[2];
        if (!__builtin_cpu_supports("avx2"))
            QSKIP("This CPU has no AVX2");
        QVERIFY(kAvx2Kernels.pairFloat32(a.data(), b.data(), n, narrow[0]));
        QVERIFY(kAvx2Kernels.pairBFloat16(a.data(), b.data(), n, narrow[1]));
        if (!__builtin_cpu_supports("avx512bw"))
            QSKIP("This CPU has no AVX-512; the AVX2 kernels ran");
        QVERIFY(kAvx512Kernels.pairFloat32(a.data(), b.data(), n, wide[0]));
        QVERIFY(kAvx512Kernels.pairBFloat16(a.data(), b.data(), n, wide[1]));
        for (int k = 0; k < 2; ++k) {
            QCOMPARE(wide[k].valuesDiffer, narrow[k].valuesDiffer);
            QCOMPARE(wide[k].bitsDiffer, narrow[k].bitsDiffer);
            QCOMPARE(wide[k].minA, narrow[k].minA);
            QCOMPARE(wide[k].maxB, narrow[k].maxB);
            QCOMPARE(wide[k].maxAbs, narrow[k].maxAbs);
        }
        // One NaN or infinity anywhere is noticed.
        const std::size_t where = random() % n;
        const std::uint32_t odd = random() % 2 ? 0x7f800000u : 0xffc00001u;
        std::memcpy(b.data() + where * 4, &odd, 4);
        QVERIFY(!kAvx512Kernels.pairFloat32(a.data(), b.data(), n, wide[0]));
        QVERIFY(!kAvx2Kernels.pairFloat32(a.data(), b.data(), n, narrow[0]));
        QVERIFY(!kAvx512Kernels.singleFloat32(b.data(), n, wide[0]));
        const auto half = static_cast<std::uint16_t>(odd >> 16);
        std::memcpy(b.data() + where * 2, &half, 2);
        QVERIFY(!kAvx512Kernels.pairBFloat16(a.data(), b.data(), n, wide[1]));
        QVERIFY(!kAvx2Kernels.pairBFloat16(a.data(), b.data(), n, narrow[1]));
    }
#else
    QSKIP("Only x86 has vector kernels");
#endif
}

void TestCkptStats::normNeitherOverflowsNorVanishes()
{
    const auto norm = [](std::vector<double> values) {
        ElementStats stats;
        accumulate(DType::Float64, std::as_bytes(std::span(values)), stats);
        return stats.l2();
    };
    QCOMPARE(norm({3e200, 4e200}), 5e200);
    QCOMPARE(norm({3e-200, 4e-200}), 5e-200);
    QCOMPARE(norm({3e-320, 4e-320}), 5e-320);
    QCOMPARE(norm({1e308, 1e-308, 1}), 1e308);
    std::vector<double> mixed(10000, 1e-150);
    mixed[0] = 1e-141;
    mixed[9999] = 1e-139; // the two ends lie in blocks of different ranges
    const long double want = std::sqrt(9998 * 1e-300L + 1e-282L + 1e-278L);
    QVERIFY(std::abs(norm(mixed) - want) < 1e-13L * want);
}

void TestCkptStats::mixedIntegersAreComparedExactly()
{
    const std::int64_t a[] = {-9223372036854775807LL - 1, 5, (1LL << 53) + 1};
    const std::uint64_t b[] = {18446744073709551615ULL, 5, 1ULL << 53};
    ElementDiff diff;
    accumulateDiff(DType::Int64, std::as_bytes(std::span(a)).data() + 8, DType::UInt64,
                   std::as_bytes(std::span(b)).data() + 8, 2, diff);
    QCOMPARE(diff.valuesDiffer, std::uint64_t{1});
    QCOMPARE(std::get<std::uint64_t>(diff.maxAbs), std::uint64_t{1});
}

void TestCkptStats::integerAgainstFloatIsComparedAsDouble()
{
    const std::int64_t a[] = {1, 2, 3};
    const float b[] = {1, 2.5f, 3};
    ElementDiff diff;
    accumulateDiff(DType::Int64, std::as_bytes(std::span(a)).data(), DType::Float32,
                   std::as_bytes(std::span(b)).data(), 3, diff);
    QCOMPARE(diff.valuesDiffer, std::uint64_t{1});
    QCOMPARE(std::get<double>(diff.maxAbs), 0.5);
}

void TestCkptStats::negativeZeroIsEqualInValueAndNotInBits()
{
    for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Float64}) {
        Buffer a(itemSize(dtype) * 100), b = a;
        b[itemSize(dtype) * 50 - 1] = std::byte{0x80};
        ElementDiff diff;
        accumulateDiff(dtype, a.data(), dtype, b.data(), 100, diff);
        QCOMPARE(diff.valuesDiffer, std::uint64_t{0});
        QCOMPARE(diff.bitsDiffer, std::uint64_t{1});
        QCOMPARE(std::get<double>(diff.maxAbs), 0.0);
    }
}

void TestCkptStats::packedTypesAreComparedByBytes()
{
    Buffer a(10), b(10);
    b[3] = std::byte{1};
    ElementDiff diff;
    accumulateDiff(DType::Float4E2M1FNx2, a.data(), DType::Float4E2M1FNx2, b.data(), 10, diff);
    QCOMPARE(diff.bitsDiffer, std::uint64_t{1});
    QCOMPARE(diff.valuesDiffer, std::uint64_t{1});
    QCOMPARE(diff.maxAbs.index(), std::size_t{0});
    QCOMPARE(diff.a.min.index(), std::size_t{0});
}

void TestCkptStats::emptyHasNoRange()
{
    ElementStats stats;
    accumulate(DType::Float32, {}, stats);
    QCOMPARE(stats.elements, std::uint64_t{0});
    QCOMPARE(stats.min.index(), std::size_t{0});
    QCOMPARE(stats.l2(), 0.0);
}

QTEST_APPLESS_MAIN(TestCkptStats)
#include "tst_ckpt_stats.moc"
