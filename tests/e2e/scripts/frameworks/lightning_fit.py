"""Lightning's Trainer, with DEVICES processes that it starts itself."""
import os
import sys

import lightning
import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

    def training_step(self, batch, index):
        features, label = batch
        loss = torch.nn.functional.cross_entropy(self.net(features), label)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        features, label = batch
        self.log("validation", torch.nn.functional.cross_entropy(self.net(features), label), sync_dist=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


devices = int(sys.argv[1])
lightning.seed_everything(3)
generator = torch.Generator().manual_seed(1)
label = torch.arange(96) % 3
data = TensorDataset(torch.randn(96, 8, generator=generator) + label[:, None], label)
held_out = TensorDataset(torch.randn(20, 8, generator=generator), torch.arange(20) % 3)
sampler = DistributedSampler(data, devices, int(os.environ.get("LOCAL_RANK", 0)), seed=5)
trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", devices=devices, strategy="ddp" if devices > 1 else "auto", logger=False,
                            enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False,
                            gradient_clip_val=1.0, use_distributed_sampler=False)
trainer.fit(Classifier(), DataLoader(data, batch_size=16 // devices, sampler=sampler), DataLoader(held_out, batch_size=4))
