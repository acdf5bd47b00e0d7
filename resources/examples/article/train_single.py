"""One process: the script that works and is to be moved to several."""

import sys

import torch
from common import BATCH, EPOCHS, accuracy, make_data, make_model
from torch import nn
from torch.utils.data import DataLoader


def main(checkpoint: str) -> None:
    torch.manual_seed(42)
    data = make_data()
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(data, batch_size=BATCH, shuffle=True)
    for epoch in range(EPOCHS):
        for features, label in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(features), label)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    torch.save({"model": model.state_dict()}, checkpoint)
    print(f"accuracy {accuracy(model, data):.3f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "single.pt")
