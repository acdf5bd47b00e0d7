"""Writes index orders of Python torch as int64 records for tst_samplers: kind, number of parameters, parameters,
number of values, values. One process for the whole table."""
import array
import sys
import warnings

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler
from torch.utils.data.distributed import DistributedSampler

warnings.simplefilter("ignore")
out = array.array("q")


def record(kind, parameters, values):
    out.extend([kind, len(parameters), *parameters, len(values), *values])


class Numbers(torch.utils.data.Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        info = torch.utils.data.get_worker_info()
        return index if info is None else torch.initial_seed()


for n in (0, 1, 2, 7, 1000, 1797):
    data = Numbers(n)
    for world in (1, 2, 3, 4, 7, 8, 64):
        for shuffle in (False, True):
            for drop_last in (False, True):
                for seed in (0, 42, 2**40 + 17) if shuffle else (0,):
                    for rank in range(world):
                        sampler = DistributedSampler(
                            data, world, rank, shuffle=shuffle, seed=seed, drop_last=drop_last
                        )
                        for epoch in range(4):
                            sampler.set_epoch(epoch)
                            record(0, [n, world, epoch, shuffle, drop_last, seed, rank], list(sampler))

for n in (1, 2, 7, 1000, 1797):
    for seed in (0, 42, 2**40 + 17):
        torch.manual_seed(seed)
        loader = DataLoader(Numbers(n), batch_size=1, shuffle=True)
        iterator = iter(loader)
        record(1, [n, seed, iterator._base_seed], [int(x) for x in iterator])
        for samples in (1, 31, 32, 33, 100):
            torch.manual_seed(seed)
            record(2, [n, seed, samples], list(RandomSampler(Numbers(n), replacement=True, num_samples=samples)))
        for batch in (1, 3, 32, 5000):
            for drop_last in (False, True):
                chunks = list(BatchSampler(range(n), batch, drop_last))
                record(3, [n, batch, drop_last], [len(c) for c in chunks])

torch.manual_seed(42)
iterator = iter(DataLoader(Numbers(3), batch_size=1, num_workers=3))
record(4, [iterator._base_seed], [int(x) for x in iterator])

for high in ((1 << 28) - 1, 1 << 28, 1 << 32, (1 << 62) + 1):
    generator = torch.Generator()
    generator.manual_seed(high)
    record(5, [high], torch.randint(high, (9,), generator=generator).tolist())

with open(sys.argv[1], "wb") as file:
    out.tofile(file)
