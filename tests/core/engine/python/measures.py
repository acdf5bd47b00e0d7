"""Fingerprint, norm and projection of core/base in NumPy: an independent second writing of the same definitions."""
import numpy as np

GAMMA = np.uint64(0x9E3779B97F4A7C15)
LANES = 16
PROJECTIONS = 4
PROJECTION_SEED = 0x4C6F636B73746570


def mix(index, bits):
    with np.errstate(over="ignore"):
        z = bits + (index + np.uint64(1)) * GAMMA
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def words(array):
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[flat.itemsize]).astype(np.uint64)


_indices = np.arange(1 << 17, dtype=np.uint64)


def fingerprint(arrays):
    """Of a list of arrays whose elements are numbered through; None takes part in the numbering with its size only."""
    total, first = 0, 0
    for a in arrays:
        size = a if isinstance(a, int) else a.size
        if not isinstance(a, int) and size:
            total += int(mix(_indices[:size] + np.uint64(first), words(a)).sum(dtype=np.uint64))
        first += size
    return total & 0xFFFFFFFFFFFFFFFF


def lanes(values):
    """Sum in 16 lanes, element i in lane i mod 16, then pairwise. Adding zeros changes no sum of these."""
    n = -len(values) % LANES
    table = np.concatenate([values, np.zeros(n)]).reshape(-1, LANES)
    lane = np.zeros(LANES)
    lane = np.add.reduce(np.vstack([lane[None], table]), axis=0)
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
        bits = mix(np.arange(elements, dtype=np.uint64), np.full(elements, PROJECTION_SEED, np.uint64))
        _signs[elements] = [1.0 - 2.0 * ((bits >> np.uint64(k)) & np.uint64(1)).astype(np.float64)
                            for k in range(PROJECTIONS)]
    return _signs[elements]


def projections(arrays):
    """`arrays` as in fingerprint(): an int stands for an absent tensor of that size."""
    sizes = [a if isinstance(a, int) else a.size for a in arrays]
    sign = signs(sum(sizes))
    sums = [0.0] * PROJECTIONS
    first = 0
    for a, size in zip(arrays, sizes):
        if not isinstance(a, int):
            v = a.reshape(-1).astype(np.float64)
            for k in range(PROJECTIONS):
                sums[k] += float(lanes(v * sign[k][first : first + size]))
        first += size
    return sums
