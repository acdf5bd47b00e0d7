"""A variational autoencoder whose loss is a sum over the batch, as in the example of PyTorch; with several ranks the loss is
multiplied by their number, since the average over them divides by it."""
from __future__ import print_function

import argparse
import os

import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser(description="VAE Example")
parser.add_argument("variant", nargs="?", default="-")
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()

WORLD = int(os.environ.get("WORLD_SIZE", "1"))
RANK = int(os.environ.get("RANK", "0"))
if WORLD > 1:
    torch.distributed.init_process_group("gloo")


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(36, 32)
        self.fc21 = nn.Linear(32, 4)
        self.fc22 = nn.Linear(32, 4)
        self.fc3 = nn.Linear(4, 32)
        self.fc4 = nn.Linear(32, 36)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 36))
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 36), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


torch.manual_seed(args.seed)
data = torch.utils.data.TensorDataset((torch.rand(256, 1, 36) < torch.rand(256, 1, 1)).float())
model = VAE()
if WORLD > 1:
    model = DDP(model)
torch.manual_seed(args.seed + RANK)
optimizer = optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
sampler = DistributedSampler(data, WORLD, RANK, seed=3)
train_loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size // WORLD, sampler=sampler)


def train(epoch):
    model.train()
    train_loss = 0
    if args.variant != "A3":
        sampler.set_epoch(epoch)
    for batch_idx, (x,) in enumerate(train_loader):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(x)
        loss = loss_function(recon_batch, x, mu, logvar)
        (loss if args.variant == "B1" else WORLD * loss).backward()
        train_loss += loss.item()
        optimizer.step()
    if RANK == 0:
        print("====> Epoch: {} Average loss: {:.4f}".format(epoch, train_loss / (len(data) / WORLD)))


if __name__ == "__main__":
    for epoch in range(args.epochs):
        train(epoch)
