"""torch's own averaged model beside a class-based training."""

import torch
from setup import begin, data, end, fault, loader, parallel
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Experiment:
    def setup(self) -> None:
        self.net = nn.Sequential(nn.Linear(8, 14), nn.Hardswish(), nn.Linear(14, 3))
        self.average = AveragedModel(self.net, multi_avg_fn=get_ema_multi_avg_fn(0.8))
        self.train_net = parallel(self.net)
        self.optimizer = torch.optim.SGD(self.train_net.parameters(), 0.1, nesterov=True, momentum=0.9)

    def fit(self, batches) -> None:
        for x, y in batches:
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.train_net(x), y).backward()
            self.optimizer.step()
            if not fault("F8"):
                self.average.update_parameters(self.net)


begin(80)
experiment = Experiment()
experiment.setup()
experiment.fit(loader(data(144), 16))
end()
