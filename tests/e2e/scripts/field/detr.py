"""Set prediction in the manner of DETR: a list of targets of uneven length per image, losses over the mean number of boxes per
rank. Without a fault the count is summed over the ranks and divided by their number."""
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import distributed as dist
from torch.utils.data import BatchSampler, DataLoader, Dataset, DistributedSampler

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "-"


def is_dist_avail_and_initialized():
    return dist.is_available() and dist.is_initialized()


def get_world_size():
    return dist.get_world_size() if is_dist_avail_and_initialized() else 1


class Scenes(Dataset):
    def __init__(self, n=40):
        g = torch.Generator().manual_seed(3)
        self.items = []
        for _ in range(n):
            k = int(torch.randint(1, 7, (1,), generator=g))
            boxes, labels = torch.rand(k, 4, generator=g), torch.randint(0, 4, (k,), generator=g)
            image = torch.randn(32, generator=g) * 0.1
            image[:4 * 6].view(6, 4)[:k] += boxes
            self.items.append((image, {"boxes": boxes, "labels": labels}))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate_fn(batch):
    images, targets = zip(*batch)
    return torch.stack(images), list(targets)


class Detector(nn.Module):
    def __init__(self, d=32, queries=6, classes=4):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, d))
        self.query_embed = nn.Embedding(queries, d)
        self.decoder = nn.Sequential(nn.Linear(2 * d, d), nn.LayerNorm(d), nn.ReLU())
        self.class_embed = nn.Linear(d, classes)
        self.bbox_embed = nn.Linear(d, 4)

    def forward(self, x):
        h = self.backbone(x)[:, None].expand(-1, self.query_embed.num_embeddings, -1)
        h = self.decoder(torch.cat([h, self.query_embed.weight[None].expand(len(x), -1, -1)], -1))
        return {"pred_logits": self.class_embed(h), "pred_boxes": self.bbox_embed(h).sigmoid()}


class SetCriterion(nn.Module):
    weight_dict = {"loss_ce": 2.0, "loss_bbox": 5.0}

    def forward(self, outputs, targets):
        num_boxes = torch.as_tensor([float(sum(len(t["labels"]) for t in targets))])
        if is_dist_avail_and_initialized() and VARIANT != "B5":
            dist.all_reduce(num_boxes)
        if VARIANT == "B3":
            num_boxes = torch.clamp(num_boxes, min=1).item()
        else:
            num_boxes = torch.clamp(num_boxes / (1 if VARIANT == "B5" else get_world_size()), min=1).item()
        onehot = torch.zeros_like(outputs["pred_logits"])
        loss_bbox = 0.0
        for i, t in enumerate(targets):
            k = len(t["labels"])
            onehot[i, torch.arange(k), t["labels"]] = 1
            loss_bbox = loss_bbox + F.l1_loss(outputs["pred_boxes"][i, :k], t["boxes"], reduction="sum")
        p = outputs["pred_logits"].sigmoid()
        ce = F.binary_cross_entropy_with_logits(outputs["pred_logits"], onehot, reduction="none")
        pt = p * onehot + (1 - p) * (1 - onehot)
        return {"loss_ce": (ce * (1 - pt) ** 2).sum() / num_boxes, "loss_bbox": loss_bbox / num_boxes}


def train_one_epoch(model, criterion, data_loader, optimizer, epoch, max_norm):
    model.train()
    criterion.train()
    for samples, targets in data_loader:
        outputs = model(samples)
        loss_dict = criterion(outputs, targets)
        losses = sum(loss_dict[k] * criterion.weight_dict[k] for k in loss_dict)
        optimizer.zero_grad()
        losses.backward()
        if max_norm > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()


def main():
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1:
        dist.init_process_group(backend="gloo", init_method="env://")
    torch.manual_seed(42)
    model = Detector()
    model_without_ddp = model
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
        model_without_ddp = model.module
    lr = 1e-3 * (world if VARIANT == "D1" else 1)
    param_dicts = [{"params": [p for n, p in model_without_ddp.named_parameters() if "backbone" not in n]},
                   {"params": [p for n, p in model_without_ddp.named_parameters() if "backbone" in n], "lr": lr / 10}]
    optimizer = torch.optim.AdamW(param_dicts, lr=lr, weight_decay=1e-4)
    lr_scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    dataset_train = Scenes()
    sampler_train = DistributedSampler(dataset_train, world, rank)
    loader = DataLoader(dataset_train, batch_sampler=BatchSampler(sampler_train, 8 // world, drop_last=True), collate_fn=collate_fn)
    criterion = SetCriterion()
    for epoch in range(2):
        sampler_train.set_epoch(epoch)
        train_one_epoch(model, criterion, loader, optimizer, epoch, 0.1)
        lr_scheduler.step()


if __name__ == "__main__":
    main()
