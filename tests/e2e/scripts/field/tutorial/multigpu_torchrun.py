"""The trainer of the well-known tutorial: snapshots, a distributed sampler without shuffling, and dropout in the model."""
import os
import tempfile

import torch
import torch.nn.functional as F
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from datautils import MyTrainDataset


class Trainer:
    def __init__(self, model: torch.nn.Module, train_data: DataLoader, optimizer: torch.optim.Optimizer, save_every: int,
                 snapshot_path: str, bug: str) -> None:
        self.global_rank = int(os.environ.get("RANK", 0))
        self.distributed = int(os.environ.get("WORLD_SIZE", 1)) > 1
        self.model = model
        self.train_data = train_data
        self.optimizer = optimizer
        self.save_every = save_every
        self.epochs_run = 0
        self.snapshot_path = snapshot_path
        self.bug = bug
        if os.path.exists(snapshot_path):
            self._load_snapshot(snapshot_path)
        if self.distributed:
            self.model = DDP(self.model)

    def _load_snapshot(self, snapshot_path):
        snapshot = torch.load(snapshot_path)
        self.model.load_state_dict(snapshot["MODEL_STATE"])
        self.epochs_run = snapshot["EPOCHS_RUN"]

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        output = self.model(source)
        loss = F.mse_loss(output, targets)
        loss.backward()
        self.optimizer.step()

    def _run_epoch(self, epoch):
        b_sz = len(next(iter(self.train_data))[0])
        print(f"[GPU{self.global_rank}] Epoch {epoch} | Batchsize: {b_sz} | Steps: {len(self.train_data)}")
        if isinstance(self.train_data.sampler, DistributedSampler):
            self.train_data.sampler.set_epoch(epoch)
        for source, targets in self.train_data:
            self._run_batch(source, targets)

    def _save_snapshot(self, epoch):
        model = self.model.module if self.distributed else self.model
        torch.save({"MODEL_STATE": model.state_dict(), "EPOCHS_RUN": epoch}, self.snapshot_path)

    def train(self, max_epochs: int):
        for epoch in range(self.epochs_run, max_epochs):
            self._run_epoch(epoch)
            if (self.global_rank == 0 or self.bug == "F2") and epoch % self.save_every == 0:
                self._save_snapshot(epoch)


def load_train_objs():
    train_set = MyTrainDataset(96)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Linear(32, 1))
    return train_set, model, torch.optim.SGD(model.parameters(), lr=1e-2)


def main(save_every: int, total_epochs: int, batch_size: int, bug: str):
    world = int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        init_process_group(backend="gloo")
    dataset, model, optimizer = load_train_objs()
    torch.manual_seed(int(os.environ.get("RANK", 0)))  # dropout of its own on every rank
    sampler = DistributedSampler(dataset, shuffle=False) if world > 1 and bug != "A1" else None
    loader = DataLoader(dataset, batch_size=batch_size // world, shuffle=False, sampler=sampler)
    path = os.path.join(tempfile.gettempdir(), f"snapshot_{os.environ.get('MASTER_PORT', os.getpid())}.pt")
    trainer = Trainer(model, loader, optimizer, save_every, path, bug)
    trainer.train(total_epochs)
    if world > 1:
        torch.distributed.barrier()
        destroy_process_group()
    if trainer.global_rank == 0:
        os.remove(path)


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description="simple distributed training job")
    parser.add_argument("bug", nargs="?", default="")
    parser.add_argument("--total_epochs", type=int, default=2)
    parser.add_argument("--save_every", type=int, default=2)
    parser.add_argument("--batch_size", default=16, type=int)
    a = parser.parse_args()
    main(a.save_every, a.total_epochs, a.batch_size, a.bug)
