"""What is recorded of a script, and what is said of one that does not train."""

from __future__ import annotations

import math
import unittest

import torch.distributed.fsdp as fsdp_of_torch
from lockstep_probe import quantity as q
from probed import run

TRAIN = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(1)
    data = TensorDataset(torch.randn(40, 4), torch.arange(40) % 2)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    def epoch(**options):
        for features, label in DataLoader(data, batch_size=10, **options):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(features), label)
            loss.backward()
            optimizer.step()
            print(f"loss={loss.item():.6f}")
"""


def train(rest: str, **options):
    return run(TRAIN + rest, **options)[0]


class Recording(unittest.TestCase):
    def test_a_step_has_its_loss_its_update_and_its_samples(self) -> None:
        done = train("""
    epoch(shuffle=True)
    """, options=("--metric", "loss=([0-9.]+)"))
        r = done.recorded
        self.assertEqual(sorted(r.steps), [0, 1, 2, 3, 4])
        self.assertEqual(sorted(i for s in r.samples for i in s["ids"]), list(range(40)))
        self.assertTrue(all(len(s["hashes"]) == 10 for s in r.samples))
        for step in range(1, 5):
            # Plain SGD: the update is the gradient times the rate.
            self.assertAlmostEqual(r.real(step, q.UPDATE_NORM), 0.5 * r.real(step, q.GRAD_NORM), places=6)
            self.assertAlmostEqual(r.real(step, q.LOSS_LOGGED), r.real(step, q.LOSS), places=5)
            self.assertEqual(r.real(step, q.LEARNING_RATE), 0.5)
            self.assertNotEqual(r.integer(step, q.PARAM_FINGERPRINT), r.integer(step - 1, q.PARAM_FINGERPRINT))
        self.assertEqual(r.config()["batch"], 10)
        self.assertEqual(r.goodbye["kind"], "finished")

    def test_the_batch_of_a_batch_sampler_is_the_one_it_gives(self) -> None:
        r = train("""
    epoch_of = DataLoader(data, batch_sampler=[[1, 2, 3], [4, 5, 6]])
    for features, label in epoch_of:
        nn.functional.cross_entropy(model(features), label).backward()
        optimizer.step()
    """).recorded
        self.assertEqual((r.config()["batch"], r.samples[1]["ids"]), (3, [4, 5, 6]))

    def test_worker_processes_deliver_the_same_ids(self) -> None:
        for method in ("fork", "spawn"):
            script = f"""
    if __name__ == "__main__":
        epoch(shuffle=True, num_workers=1, multiprocessing_context="{method}")
    """
            done = train(script)
            self.assertEqual(done.code, 0, done.output)
            self.assertEqual(sorted(i for s in done.recorded.samples for i in s["ids"]), list(range(40)))

    def test_a_loader_that_fetches_ahead_keeps_its_batches_with_their_steps(self) -> None:
        r = train("""
    class Ahead(DataLoader):
        def __iter__(self):
            iterator = super().__iter__()
            current = next(iterator)
            for following in iterator:
                yield current
                current = following
            yield current

    class Repeated(DataLoader):
        def __iter__(self):
            yield from super().__iter__()

    for kind in (Ahead, Repeated):
        for features, label in kind(data, batch_size=10):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(features), label).backward()
            optimizer.step()
    """).recorded
        self.assertEqual([s["ids"][0] for s in r.samples], [0, 10, 20, 30] * 2)
        self.assertEqual([s["step"] for s in r.samples], list(range(1, 9)))

    def test_a_sum_divided_by_all_targets_of_a_step_is_a_mean_however_many_micro_batches(self) -> None:
        for accumulate in (2, 8):
            r = train(f"""
    losses = []
    for turn in range({accumulate}):
        label = torch.arange(4) % 2
        loss = nn.functional.cross_entropy(model(torch.full((4, 4), 0.1 * turn)), label, reduction="sum")
        losses.append(loss.item() / 4)
        (loss / (4 * {accumulate})).backward()
    optimizer.step()
    print(f"loss={{sum(losses) / len(losses):.6f}}")
""", options=("--metric", "loss=([0-9.]+)")).recorded
            self.assertAlmostEqual(r.real(1, q.LOSS), r.real(1, q.LOSS_LOGGED), places=5)

    def test_accumulation_is_one_step_of_several_micro_batches(self) -> None:
        r = train("""
    for i, (features, label) in enumerate(DataLoader(data, batch_size=5)):
        (nn.functional.cross_entropy(model(features), label) / 2).backward()
        if i % 2:
            optimizer.step()
            optimizer.zero_grad()
    """).recorded
        self.assertEqual(sorted(r.steps), [0, 1, 2, 3, 4])
        self.assertEqual(r.integer(1, q.MICRO_STEPS), 2)
        # The loss is that of a micro-batch, not the half of it that was differentiated.
        self.assertGreater(r.real(1, q.LOSS), 0.5)

    def test_an_evaluation_is_no_step(self) -> None:
        r = train("""
    for _ in range(2):
        epoch()
        model.eval()
        for features, label in DataLoader(data, batch_size=20):
            with torch.no_grad():
                model(features)
        model.train()
    """).recorded
        self.assertEqual(max(r.steps), 8)
        self.assertTrue(all(len(s["ids"]) == 10 for s in r.samples))

    def test_scripts_that_do_not_train_get_a_note(self) -> None:
        for text, expected in (("print('nothing')", "no optimizer"),
                               ("import torch\no = torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.1)", "never called backward"),
                               ("import torch\nw = torch.zeros(1, requires_grad=True)\no = torch.optim.SGD([w], 0.1)\n"
                                "(w * 2).sum().backward()", "no optimizer step")):
            done = run(text)[0]
            self.assertEqual(done.code, 0)
            self.assertTrue(any(expected in note for note in done.recorded.notes()), done.recorded.notes())

    def test_every_end_is_reported(self) -> None:
        failed = train("""
    epoch()
    raise ValueError("the disk of the test is full")
    """)
        self.assertEqual((failed.code, failed.recorded.goodbye["kind"]), (1, "error"))
        self.assertIn("ValueError: the disk of the test is full", failed.recorded.goodbye["sentence"])
        self.assertIn("in script.py line", failed.recorded.goodbye["sentence"])
        self.assertTrue(failed.output.rstrip().endswith("ValueError: the disk of the test is full"), failed.output)
        left = train("\n    epoch()\n    raise SystemExit(7)\n")
        self.assertEqual((left.code, left.recorded.goodbye["code"], left.recorded.goodbye["kind"]), (7, 7, "error"))
        well = train("\n    import sys\n    epoch()\n    sys.exit()\n")
        self.assertEqual((well.code, well.recorded.goodbye["kind"]), (0, "finished"))

    def test_a_load_that_loads_nothing_and_a_rank_of_one_machine_are_noted(self) -> None:
        r = train("""
    import os
    rank = int(os.environ.get("LOCAL_RANK", 0))
    model.load_state_dict({"module." + k: v for k, v in model.state_dict().items()}, strict=False)
    epoch()
    """).recorded
        self.assertTrue(any('prefix "module."' in note for note in r.notes()), r.notes())
        self.assertTrue(any("LOCAL_RANK" in note for note in r.notes()), r.notes())

    def test_two_ranks_add_up_to_one_process(self) -> None:
        script = """
    import os, torch
    from torch import nn
    import torch.distributed as dist
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(1)
    features, label = torch.randn(32, 6), torch.arange(32) % 3
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    kind = os.environ["KIND"]
    if world > 1 and kind == "ddp":
        model = nn.parallel.DistributedDataParallel(model)
    elif world > 1:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        fully_shard(model, mesh=init_device_mesh("cpu", (world,)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for i in range(3):
        rows = torch.arange(i * 8, i * 8 + 8)[rank * 8 // world : (rank + 1) * 8 // world]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(features[rows]), label[rows]).backward()
        optimizer.step()
    if world > 1:
        dist.destroy_process_group()
    """
        one = run(script, environment={"KIND": ""})[0].recorded
        ddp = [o.recorded for o in run(script, world=2, environment={"KIND": "ddp"})]
        for rank in ddp:
            self.assertEqual(rank.integer(0, q.PARAM_FINGERPRINT), one.integer(0, q.PARAM_FINGERPRINT))
        if not hasattr(fsdp_of_torch, "fully_shard"):
            self.skipTest("torch before 2.6 has no fully_shard")
        fsdp = [o.recorded for o in run(script, world=2, environment={"KIND": "fsdp"})]
        shares = [rank.integer(0, q.PARAM_FINGERPRINT, q.SHARE) for rank in fsdp]
        self.assertEqual(sum(shares) % 2**64, one.integer(0, q.PARAM_FINGERPRINT))
        for step in (1, 2, 3):
            norm = one.real(step, q.GRAD_NORM)
            self.assertAlmostEqual(sum(r.real(step, q.LOSS) for r in ddp) / 2, one.real(step, q.LOSS), places=5)
            self.assertAlmostEqual(ddp[1].real(step, q.GRAD_NORM), norm, places=5)
            self.assertAlmostEqual(math.hypot(*[r.real(step, q.GRAD_NORM, q.SHARE) for r in fsdp]), norm, places=5)
            for k in range(4):
                local = sum(r.real(step, q.GRAD_PROJ_LOCAL, k) for r in ddp) / 2
                self.assertAlmostEqual(local, ddp[0].real(step, q.GRAD_PROJ, k), places=6)
        self.assertEqual([r.config()["mode"] for r in (one, ddp[0], fsdp[0])], ["single", "ddp", "fsdp"])

    def test_a_mistake_of_the_probe_does_not_end_the_script(self) -> None:
        done = train("""
    import lockstep_probe.records
    lockstep_probe.records.Recording.step = lambda *a: 1 / 0
    epoch()
    print("trained")
    """)
        self.assertEqual(done.code, 0)
        self.assertIn("trained", done.output)
        self.assertTrue(any("stopped recording" in note for note in done.recorded.notes()))


if __name__ == "__main__":
    unittest.main()
