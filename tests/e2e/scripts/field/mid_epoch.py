"""Stops in the middle of an epoch and goes on from its checkpoint, with averaged weights (SWA) over the last epochs."""
import os
import pathlib
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

W, R = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
bug = sys.argv[1] if len(sys.argv) > 1 and W > 1 else ""


class State:
    def __init__(self):
        torch.manual_seed(17)
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
        self.ddp = torch.nn.parallel.DistributedDataParallel(self.net) if W > 1 else self.net
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.averaged = AveragedModel(self.net)
        self.schedule = SWALR(self.opt, swa_lr=2e-3, anneal_epochs=4)
        self.epoch = self.batch = 0

    def save(self, path):
        if R == 0:
            torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(), "averaged": self.averaged.state_dict(),
                        "schedule": self.schedule.state_dict(), "epoch": self.epoch, "batch": self.batch}, path)
        if W > 1:
            dist.barrier()

    def load(self, path):
        ckpt = torch.load(path, map_location="cpu")
        self.net.load_state_dict(ckpt["net"])
        self.averaged.load_state_dict(ckpt["averaged"])
        if bug != "F5":
            self.opt.load_state_dict(ckpt["opt"])
        self.schedule.load_state_dict(ckpt["schedule"])
        self.epoch, self.batch = ckpt["epoch"], 0 if bug == "F7" else ckpt["batch"]


def data():
    g = torch.Generator().manual_seed(2)
    y = torch.arange(96) % 3
    return TensorDataset(torch.randn(96, 8, generator=g) + y[:, None], y)


def fit(state, dataset, path, stop_at=None, epochs=2):
    sampler = DistributedSampler(dataset, W, R, shuffle=True)
    loader = DataLoader(dataset, batch_size=16 // W, sampler=sampler)
    while state.epoch < epochs:
        sampler.set_epoch(state.epoch)
        for i, (x, y) in enumerate(loader):
            if i < state.batch:
                continue  # trained already
            loss = torch.nn.functional.cross_entropy(state.ddp(x), y)
            state.opt.zero_grad()
            loss.backward()
            state.opt.step()
            state.batch = i + 1
            if state.epoch >= 1:
                state.averaged.update_parameters(state.net)
            if stop_at == (state.epoch, state.batch):
                state.save(path)
                return
        state.schedule.step()
        state.epoch, state.batch = state.epoch + 1, 0
        print("epoch", state.epoch, loss.item())
    update_bn(loader, state.averaged)


def main():
    if W > 1:
        dist.init_process_group("gloo")
    folder = pathlib.Path(os.environ.get("TMPDIR", tempfile.gettempdir()))
    path = folder / f"mid_epoch_{os.environ.get('MASTER_PORT', os.getpid())}.pt"
    fit(State(), data(), path, stop_at=(0, 4))
    resumed = State()
    resumed.load(path)
    fit(resumed, data(), path)
    if W > 1:
        dist.barrier()
    if R == 0:
        path.unlink()


main()
