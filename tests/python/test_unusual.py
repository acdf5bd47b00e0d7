"""What scripts do that is correct and not common: what the probe says of it is what happened."""

from __future__ import annotations

import os
import sys
import unittest

from lockstep_probe import quantity as q
from lockstep_probe.hooks.processes import as_rank
from lockstep_probe.options import parse
from probed import run
from test_recording import TRAIN, train


class Unusual(unittest.TestCase):
    def test_parts_of_the_forward_that_run_again_are_no_batches(self) -> None:
        r = train("""
    from torch.utils.checkpoint import checkpoint
    inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.last = inner, nn.Linear(4, 2)
        def forward(self, x):
            return self.last(checkpoint(self.inner, x, use_reentrant=False))
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        model(data[:10][0]).sum().backward()
        optimizer.step()
    """).recorded
        self.assertEqual([len(s["hashes"]) for s in r.samples], [10, 10, 10])
        self.assertEqual(r.samples[0]["hashes"], r.samples[2]["hashes"])

    def test_a_gradient_that_is_clipped_twice_is_the_one_before(self) -> None:
        r = train("""
    model(data[:10][0]).sum().backward()
    before = model.weight.grad.norm().square() + model.bias.grad.norm().square()
    nn.utils.clip_grad_norm_(model.parameters(), 2.0)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(f"norm={before.sqrt().item()}")
    """, options=("--metric", "norm=([0-9.]+)")).recorded
        self.assertAlmostEqual(r.real(1, q.GRAD_NORM), r.real(1, q.LOSS_LOGGED), places=4)
        self.assertAlmostEqual(r.real(1, q.GRAD_NORM_CLIPPED), 1.0, places=4)

    def test_a_loader_around_a_loader_may_be_one_batch_ahead(self) -> None:
        r = train("""
    class Ahead:
        def __init__(self, loader):
            self.loader = loader
        def __iter__(self):
            iterator = iter(self.loader)
            held = next(iterator)
            for following in iterator:
                yield held
                held = following
            yield held
    for features, label in Ahead(DataLoader(data, batch_size=10)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(features), label).backward()
        optimizer.step()
    """).recorded
        self.assertEqual([s["ids"] for s in r.samples], [list(range(i, i + 10)) for i in range(0, 40, 10)])

    def test_draws_of_numpy_between_a_batch_and_its_pass_are_told(self) -> None:
        r = train("""
    import numpy
    for features, label in DataLoader(data, batch_size=10):
        features = features * numpy.random.rand()
        nn.functional.cross_entropy(model(features), label).backward()
        optimizer.step()
    """).recorded
        self.assertEqual([list(e["detail"]) for e in r.events if e["kind"] == "draws"], [["numpy"]] * 3)

    def test_the_schedule_that_follows_a_metric_is_known(self) -> None:
        r = train("""
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5)
    epoch()
    """).recorded
        self.assertIn("ReduceLROnPlateau(", r.config()["workload_options"]["schedule"])

    def test_events_say_that_no_more_of_their_kind_are_told(self) -> None:
        r = train("""
    epoch()
    for turn in range(70):
        model.load_state_dict(model.state_dict())
    """).recorded
        loaded = [e["detail"] for e in r.events if e["kind"] == "loaded"]
        self.assertEqual([len(loaded), loaded[-1].get("last_told"), loaded[-2].get("last_told")], [64, True, None])

    def test_a_child_forked_before_the_training_does_not_speak_for_the_rank(self) -> None:
        # The child trains while the parent is in the midst of it, and as long.
        done = run("""
    import os
    stepped, go_on = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.read(stepped[0], 1)
    """ + TRAIN + """
    epoch()
    if child == 0:
        os.write(go_on[1], b"x")
        os._exit(0)
    os.write(stepped[1], b"x")
    os.read(go_on[0], 1)
    epoch()
    os.waitpid(child, 0)
    """)[0]
        self.assertEqual(done.code, 0, done.output)
        assert done.recorded
        self.assertEqual(sorted(done.recorded.steps), list(range(9)))

    def test_a_script_that_leaves_by_os_exit_has_its_last_words(self) -> None:
        for status in (0, 7):
            done = train(f"""
    epoch()
    import os
    os._exit({status})
    """)
            self.assertEqual(done.code, status, done.output)
            self.assertEqual(sorted(done.recorded.steps), [0, 1, 2, 3, 4])
            self.assertEqual(done.recorded.goodbye["code"], status)

    def test_the_script_started_again_with_another_rank_is_probed(self) -> None:
        options = parse(["--record", "tensor", "train.py", "--lr", "1"])
        own = [sys.executable, os.path.abspath("train.py"), "--lr", "1"]
        probed = [sys.executable, "-m", "lockstep_probe", "--record", "tensor", *own[1:]]
        ranked = dict(os.environ, LOCAL_RANK="1")
        self.assertEqual(as_rank(own, ranked, options), probed)
        self.assertEqual(as_rank(own, None, options), own)  # the rank is the script's own: a helper
        self.assertEqual(as_rank([sys.executable, "other.py"], ranked, options), [sys.executable, "other.py"])
        self.assertEqual(as_rank("python train.py", ranked, options), "python train.py")

    def test_a_rank_that_would_not_find_the_probe_is_left_alone(self) -> None:
        options = parse(["train.py"])
        own = [sys.executable, os.path.abspath("train.py")]
        folder = os.path.dirname(os.path.dirname(sys.modules["lockstep_probe"].__file__ or ""))
        self.assertIn(folder, map(os.path.abspath, os.environ["PYTHONPATH"].split(os.pathsep)))
        self.assertEqual(as_rank(own, {"LOCAL_RANK": "1"}, options), own)
        self.assertNotEqual(as_rank(own, {"LOCAL_RANK": "1", "PYTHONPATH": folder}, options), own)


if __name__ == "__main__":
    unittest.main()
