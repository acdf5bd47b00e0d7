"""Fingerprint, norm and projection of core/base in NumPy: an independent second writing of the same definitions."""
import numpy as np

GAMMA = np.uint64(0x9E3779B97F4A7C15)
LANES = 16
PROJECTIONS = 4
PROJECTION_SEED = 0x4C6F636B73746570


_steps = np.arange(1, (1 << 18) + 1, dtype=np.uint64) * GAMMA  # what element i adds before it is mixed


def mix(first, bits):
    """Of elements numbered from `first`; arrays of integers wrap around without a warning."""
    z = bits + _steps[first : first + bits.size]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def words(array):
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[flat.itemsize]).astype(np.uint64)


def fingerprint(arrays):
    """Of a list of arrays whose elements are numbered through."""
    if not arrays:
        return 0
    return int(mix(0, np.concatenate([words(a) for a in arrays])).sum(dtype=np.uint64))


def lanes(values):
    """Sum of each column in 16 lanes, element i in lane i mod 16, then pairwise. Adding zeros changes no sum of these."""
    missing = -len(values) % LANES
    if missing:
        values = np.concatenate([values, np.zeros((missing, *values.shape[1:]))])
    lane = np.add.reduce(values.reshape(-1, LANES, *values.shape[1:]), axis=0, initial=0.0)
    half = LANES // 2
    while half:
        lane[:half] += lane[half : 2 * half]
        half //= 2
    return lane[0]


def norm(arrays):
    total = 0.0
    for a in arrays:
        v = a.reshape(-1).astype(np.float64)
        total += lanes(v * v)
    return float(np.sqrt(total))


def update_norm(after, before):
    total = 0.0
    for a, b in zip(after, before):
        v = a.reshape(-1).astype(np.float64) - b.reshape(-1).astype(np.float64)
        total += lanes(v * v)
    return float(np.sqrt(total))


_signs = {}


def signs(elements):
    if elements not in _signs:
        bits = mix(0, np.full(elements, PROJECTION_SEED, np.uint64))[:, None] >> np.arange(PROJECTIONS, dtype=np.uint64)
        _signs[elements] = 1.0 - 2.0 * (bits & np.uint64(1)).astype(np.float64)
    return _signs[elements]


def projections(arrays):
    """An int stands for an absent tensor of that size, which takes part in the numbering only."""
    sizes = [a if isinstance(a, int) else a.size for a in arrays]
    sign = signs(sum(sizes))
    sums = np.zeros(PROJECTIONS)
    first = 0
    for a, size in zip(arrays, sizes):
        if not isinstance(a, int):
            sums += lanes(a.reshape(-1, 1).astype(np.float64) * sign[first : first + size])
        first += size
    return sums.tolist()
