#include "core/ckpt/checkpoint.h"

#include "core/ckpt/bytes.h"
#include "core/ckpt/zip_archive.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace lockstep {

std::string_view containerName(Container container)
{
    constexpr std::array<std::string_view, 11> names = {"other",       "zip",    "legacy", "tar",
                                                        "safetensors", "pickle", "dcp",    "dcp-hf",
                                                        "hf-index",    "zero",   "folder"};
    return names[static_cast<std::size_t>(container)];
}

std::string_view layoutName(Layout layout)
{
    constexpr std::array<std::string_view, 7> names = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                                       "sparse_bsr", "sparse_bsc", "nested"};
    return names[static_cast<std::size_t>(layout)];
}

Checkpoint::Checkpoint() = default;
Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;

std::optional<CkptProblem> Checkpoint::cutFile() const
{
    for (const auto& file : files) {
        if (!file || !file->cutShort())
            continue;
        CkptProblem p;
        p.fault = CkptFault::CannotRead;
        p.file = file->name();
        p.why = "the file became shorter while it was read; another program is writing it";
        p.fatal = true;
        return p;
    }
    return std::nullopt;
}

void Checkpoint::report(CkptProblem problem)
{
    constexpr std::size_t kMaxProblems = 1000;
    if (problems.size() < kMaxProblems || problem.fatal)
        problems.push_back(std::move(problem));
}

const CkptProblem* Checkpoint::fatal() const
{
    const auto it =
        std::find_if(problems.begin(), problems.end(), [](const CkptProblem& p) { return p.fatal; });
    return it == problems.end() ? nullptr : &*it;
}

std::string_view Checkpoint::result() const
{
    if (damaged())
        return "damaged";
    return weightsOnly ? "ok" : "refused";
}

Value Checkpoint::rootValue() const
{
    return {this, root};
}

Value Checkpoint::value(NodeId id) const
{
    return {this, id};
}

std::optional<std::int64_t> Checkpoint::elements(const TensorInfo& t) const
{
    std::int64_t product = 1;
    for (const std::int64_t n : shape(t))
        if (n == 0)
            return 0;
    for (const std::int64_t n : shape(t))
        if (!mulInto(product, n, product))
            return std::nullopt;
    return product;
}

std::string Value::decimal() const
{
    if (kind() != ValueKind::BigInt)
        return std::to_string(node().integer);
    // Repeated division by 10^9; a number of more than 4096 bytes is not printed in full (as Python refuses to).
    std::string_view bytes = text();
    if (bytes.size() > 4096)
        return "(integer of " + std::to_string(bytes.size()) + " bytes)";
    std::vector<std::uint32_t> limbs((bytes.size() + 3) / 4, 0);
    const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
    for (std::size_t i = 0; i < limbs.size() * 4; ++i) {
        const unsigned char byte =
            i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : (negative ? 0xff : 0);
        limbs[i / 4] |= static_cast<std::uint32_t>(byte) << (8 * (i % 4));
    }
    if (negative) {
        std::uint64_t carry = 1;
        for (std::uint32_t& limb : limbs) {
            carry += static_cast<std::uint32_t>(~limb);
            limb = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }
    std::string digits;
    while (!limbs.empty()) {
        std::uint64_t rest = 0;
        for (std::size_t i = limbs.size(); i-- > 0;) {
            rest = (rest << 32) | limbs[i];
            limbs[i] = static_cast<std::uint32_t>(rest / 1000000000u);
            rest %= 1000000000u;
        }
        while (!limbs.empty() && limbs.back() == 0)
            limbs.pop_back();
        for (int i = 0; i < 9; ++i, rest /= 10)
            digits += static_cast<char>('0' + rest % 10);
    }
    while (digits.size() > 1 && digits.back() == '0')
        digits.pop_back();
    if (digits.empty())
        digits = "0";
    if (negative)
        digits += '-';
    std::reverse(digits.begin(), digits.end());
    return digits;
}

std::complex<double> Value::complexValue() const
{
    double parts[2];
    std::memcpy(parts, text().data(), sizeof parts);
    return {parts[0], parts[1]};
}

std::size_t Value::size() const
{
    return is(ValueKind::Dict) ? node().count / 2 : node().count;
}

Value Value::item(std::size_t i) const
{
    assert(i < size());
    const std::size_t at = is(ValueKind::Dict) ? 2 * i + 1 : i;
    return {c_, c_->pool[node().range.first + at]};
}

Value Value::key(std::size_t i) const
{
    assert(is(ValueKind::Dict) && i < size());
    return {c_, c_->pool[node().range.first + 2 * i]};
}

Value Value::get(std::string_view wanted) const
{
    if (!is(ValueKind::Dict))
        return {};
    for (std::size_t i = size(); i-- > 0;)
        if (const Value k = key(i); k.is(ValueKind::Str) && k.text() == wanted)
            return item(i);
    return {};
}

bool Value::appendNumbers(std::vector<std::int64_t>& numbers) const
{
    constexpr std::size_t kMaxRank = 255; // TensorInfo::rank
    if ((!is(ValueKind::Size) && !is(ValueKind::Tuple) && !is(ValueKind::List)) || size() > kMaxRank)
        return false;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!item(i).is(ValueKind::Int))
            return false;
        numbers.push_back(item(i).integer());
    }
    return true;
}

Value Value::dictState() const
{
    for (const auto& [dict, state] : c_->dictStates)
        if (dict == id_)
            return {c_, state};
    return {};
}

std::string_view Value::className() const
{
    return Value(c_, c_->objects[node().index].cls).text();
}

Value Value::args() const
{
    return {c_, c_->objects[node().index].args};
}

Value Value::state() const
{
    return {c_, c_->objects[node().index].state};
}

Value Value::items() const
{
    return {c_, c_->objects[node().index].items};
}

Value Value::list() const
{
    return {c_, c_->objects[node().index].list};
}

const TensorInfo& Value::tensor() const
{
    return c_->tensors[node().index];
}

const Checkpoint::StorageUse& Value::storageUse() const
{
    return c_->storageUses[node().index];
}

const NumpyInfo& Value::numpy() const
{
    return c_->numpy[node().index];
}

} // namespace lockstep
