"""torch.compile around the model, and a communication hook of one's own on DistributedDataParallel."""
import os
import sys

import torch
import torch._dynamo
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

n_gpus = int(os.environ.get("WORLD_SIZE", 1))
gpu = int(os.environ.get("RANK", 0))
bug = sys.argv[1] if len(sys.argv) > 1 and n_gpus > 1 else ""


def mean_hook(group, bucket):
    buffer = bucket.buffer()
    if bug != "B2":
        buffer.div_(n_gpus)
    return dist.all_reduce(buffer, group=group, async_op=True).get_future().then(lambda f: f.value()[0])


class TinyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(20, 32), nn.Linear(32, 32), nn.Linear(32, 6)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = x + torch.tanh(self.fc2(x))
        return self.fc3(x)


if n_gpus > 1:
    dist.init_process_group("gloo")
torch.manual_seed(1)
net = TinyNet()
if n_gpus > 1:
    net = nn.parallel.DistributedDataParallel(net)
    net.register_comm_hook(None, default_hooks.bf16_compress_hook if bug == "E2" else mean_hook)
net = torch.compile(net, backend="aot_eager")
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.0 if bug == "D7" else 1e-3)
g = torch.Generator().manual_seed(0)
inputs, labels = torch.randn(8, 32, 20, generator=g), torch.randint(0, 6, (8, 32), generator=g)
for i in range(8):
    x, y = inputs[i].chunk(n_gpus)[gpu], labels[i].chunk(n_gpus)[gpu]
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item())
