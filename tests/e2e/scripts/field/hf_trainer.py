"""A Trainer in the manner of Hugging Face's: callbacks, no-decay groups, linear warmup, a sharded optimizer, and a run that is cut
after half and goes on from its checkpoint."""
import os
import sys
import tempfile
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


@dataclass
class TrainingArguments:
    output_dir: str
    variant: str = "-"
    learning_rate: float = 5e-3
    weight_decay: float = 0.01
    warmup_steps: int = 2
    max_steps: int = 12
    global_batch: int = 16
    seed: int = 42
    local_rank: int = field(default_factory=lambda: int(os.environ.get("LOCAL_RANK", -1)))


class Sentences(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(4)
        self.ids = torch.randint(1, 30, (64, 6), generator=g)

    def __len__(self):
        return 64

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": int(self.ids[i].sum() % 3)}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = nn.EmbeddingBag(30, 24)
        self.LayerNorm = nn.LayerNorm(24)
        self.classifier = nn.Linear(24, 3)

    def forward(self, input_ids, labels=None):
        logits = self.classifier(self.LayerNorm(self.embeddings(input_ids)))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class Trainer:
    def __init__(self, model, args, train_dataset):
        self.args, self.train_dataset = args, train_dataset
        self.world = dist.get_world_size() if dist.is_initialized() else 1
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.model = model
        self.model_wrapped = DistributedDataParallel(model) if self.world > 1 else model
        self.global_step = 0

    def create_optimizer_and_scheduler(self):
        a = self.args
        no_decay = [p for n, p in self.model.named_parameters() if "bias" in n or "LayerNorm" in n]
        decay = [p for n, p in self.model.named_parameters() if not ("bias" in n or "LayerNorm" in n)]
        groups = [{"params": decay, "weight_decay": a.weight_decay}, {"params": no_decay, "weight_decay": 0.0}]
        if self.world > 1:
            self.optimizer = ZeroRedundancyOptimizer(groups, optimizer_class=torch.optim.AdamW, lr=a.learning_rate)
        else:
            self.optimizer = torch.optim.AdamW(groups, lr=a.learning_rate)
        self.lr_scheduler = LambdaLR(self.optimizer, lambda s: min((s + 1) / a.warmup_steps, max(0.0, (a.max_steps - s) / a.max_steps)))

    def _save_checkpoint(self):
        path = os.path.join(self.args.output_dir, "checkpoint.pt")
        if isinstance(self.optimizer, ZeroRedundancyOptimizer):
            self.optimizer.consolidate_state_dict(0)
        state = {"model": self.model.state_dict(), "scheduler": self.lr_scheduler.state_dict(), "step": self.global_step}
        if self.rank == 0:
            state["optimizer"] = self.optimizer.state_dict()
        if self.rank == 0:
            torch.save(state, path)
        if self.world > 1:
            dist.barrier()

    def _load_checkpoint(self):
        path = os.path.join(self.args.output_dir, "checkpoint.pt")
        state = torch.load(path, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.lr_scheduler.load_state_dict(state["scheduler"])
        self.global_step = state["step"]
        if self.args.variant != "F5" and "optimizer" in state:
            self.optimizer.load_state_dict(state["optimizer"])

    def train(self, until, resume=False):
        self.create_optimizer_and_scheduler()
        if resume:
            self._load_checkpoint()
        sampler = DistributedSampler(self.train_dataset, self.world, self.rank, seed=self.args.seed)
        loader = DataLoader(self.train_dataset, self.args.global_batch // self.world, sampler=sampler)
        epoch, skip = divmod(self.global_step, len(loader))
        if self.args.variant == "F7":
            epoch = 0
        while self.global_step < until:
            sampler.set_epoch(epoch)
            for i, inputs in enumerate(loader):
                if i < skip:
                    continue
                self.model_wrapped.train()
                loss = self.model_wrapped(**inputs)["loss"]
                loss.backward()
                nn.utils.clip_grad_norm_(self.model_wrapped.parameters(), 1.0)
                self.optimizer.step()
                self.lr_scheduler.step()
                self.model_wrapped.zero_grad()
                self.global_step += 1
                if self.global_step >= until:
                    break
            epoch, skip = epoch + 1, 0
        self._save_checkpoint()

    def save_model(self):
        if self.rank == 0 or self.args.variant == "F2":
            torch.save(self.model.state_dict(), os.path.join(self.args.output_dir, "pytorch_model.bin"))


def main():
    if "RANK" in os.environ and int(os.environ["WORLD_SIZE"]) > 1:
        dist.init_process_group("gloo")
    folder = [tempfile.mkdtemp()]
    if dist.is_initialized():
        dist.broadcast_object_list(folder)
    args = TrainingArguments(folder[0], sys.argv[1] if len(sys.argv) > 1 else "-")
    torch.manual_seed(args.seed)
    model = Classifier()
    Trainer(model, args, Sentences()).train(until=6)
    torch.manual_seed(args.seed)
    trainer = Trainer(Classifier(), args, Sentences())
    trainer.train(until=args.max_steps, resume=True)
    trainer.save_model()


if __name__ == "__main__":
    main()
