"""The corpus of diagnose.py: which fault, in which run it can act, and the step at which it first does."""
import dataclasses
import itertools

SIZES = {"toy-mlp": 1000, "digits-cnn": 1797, "char-gpt": None}
FIRST_MODULE = {"toy-mlp": "0.", "digits-cnn": "conv1", "char-gpt": "block0"}
LEARNING_RATE = {"sgd": "0.05", "adam": "0.001", "adamw": "0.001"}


@dataclasses.dataclass
class Case:
    cause: str
    world: int = 2
    optimizer: str = "sgd"
    workload: str = "toy-mlp"
    parameters: tuple = ()        # of the fault: ("k=3",)
    extra: tuple = ()             # options both runs have
    steps: int = 6
    batch: int = 16
    first_step: int | None = 1    # None: follows from the size of the dataset
    resume_at: int = 0
    benign: bool = False
    provable: bool = True
    prove: bool = False           # in the small version
    record: str = "tensor"

    def fault_text(self):
        return ",".join([self.cause, *self.parameters])

    def name(self):
        return f"{self.fault_text()} {self.workload} {self.optimizer} W={self.world} {' '.join(self.extra)}".strip()

    def options(self):
        return ["--mode", "ddp", "--world", str(self.world), "--workload", self.workload, "--optimizer", self.optimizer,
                "--lr", LEARNING_RATE[self.optimizer], "--steps", str(self.steps), "--batch", str(self.batch), "--record", self.record,
                *self.extra]

    def single_options(self):
        """One process on the same global batches."""
        ddp = self.options()
        return ["--mode", "single", "--align-world", str(self.world), *ddp[4:]]


def epoch_batch(workload, world, steps):
    """Batch per rank that gives an epoch so many steps."""
    return -(-SIZES[workload] // (world * steps))


def shapes(world, workload):
    """(fault, settings) that can act there."""
    accumulate = ("--accumulate", "2")
    table = [("A1", {}), ("A2", {}), ("A4", {}), ("A7", {}), ("A9", {}), ("A10", {}), ("B2", {}), ("B3", {}),
             ("B2", dict(parameters=("k=3", "step=3"), first_step=3)), ("B3", dict(parameters=("k=5", "step=2"), first_step=2)),
             ("B4", {}), ("B6", dict(extra=accumulate)), ("B6", dict(extra=("--accumulate", "3"))), ("B7", dict(extra=accumulate)),
             ("B8", {}), ("B8", dict(parameters=("step=4",), first_step=4)), ("B10", dict(extra=("--log-every", "1"))),
             ("B11", dict(extra=("--log-every", "1"))), ("B12", dict(extra=accumulate)), ("C1", {}),
             ("C1", dict(parameters=("step=3",), first_step=3)), ("C2", dict(first_step=3)), ("C3", {}),
             ("C4", dict(extra=("--freeze", FIRST_MODULE[workload], "--freeze-until", "4", "--find-unused"), first_step=4)), ("C5", dict(extra=(*accumulate, "--find-unused"))), ("C6", dict(extra=accumulate, first_step=2)),
             ("C7", dict(first_step=0)), ("C10", {}), ("C11", {}), ("C11", dict(parameters=("step=3", "p=0.3"), first_step=3)),
             ("D1", {}), ("D1", dict(parameters=("k=3",))), ("D2", dict(extra=("--scheduler", "cosine", "--scheduler-period", "40"), first_step=2)),
             ("D3", dict(extra=("--clip-norm", "0.1"))), ("D4", dict(extra=("--clip-norm", "0.1"))), ("D5", dict(extra=("--clip-norm", "0.1"))),
             ("D6", {}), ("D6", dict(parameters=("step=3",), first_step=3)), ("D7", dict(extra=("--weight-decay", "0.1"))),
             ("D9", dict(extra=("--clip-norm", "0.1"))), ("D10", dict(extra=accumulate)), ("E1", {}), ("E2", {}), ("E6", dict(first_step=0)),
             ("D8", dict(extra=("--amp", "fp16"), first_step=2)), ("B4", dict(parameters=("share=0.25",))),
             ("F2", dict(first_step=6, provable=False)), ("F9", dict(extra=("--eval-every", "2"), first_step=2))]
    if workload != "char-gpt":
        size = SIZES[workload]
        batch = epoch_batch(workload, world, 4)
        table += [("B1", {}), ("A3", dict(batch=batch, steps=8, first_step=5)), ("A8", dict(batch=batch, steps=6))]
        if size % world:
            table += [("A5", dict(batch=batch, steps=8, first_step=4, extra=("--drop-last",))), ("A6", dict(batch=batch, steps=8, first_step=4))]
    if workload == "digits-cnn":
        table += [("C9", dict(first_step=2)), ("E3", {})]
    if workload == "char-gpt":
        table += [("B5", dict(extra=("--workload-option", "ragged=1")))]
    if workload == "toy-mlp":
        table += [(f, dict(resume_at=3, first_step=4)) for f in ("F1", "F5", "F6")]
        table += [("F7", dict(batch=epoch_batch(workload, world, 4), steps=8, resume_at=6, first_step=7))]
    table += [("E4", dict(benign=True, provable=False))]
    if world > 2:
        table += [("C12", dict(benign=True, provable=False))]
    return table


def all_cases(worlds, optimizers, workloads, record):
    for workload, world, optimizer in itertools.product(workloads, worlds, optimizers):
        for cause, settings in shapes(world, workload):
            yield Case(cause=cause, world=world, optimizer=optimizer, workload=workload, record=record, **settings)


def clean_cases():
    """(name, options, options): pairs of correct runs that look different: the backend's order, world, buckets, threads, a
    single process, micro-batches, parameters without gradient, an uneven last batch, a schedule that warms up."""
    for seed, workload, optimizer in itertools.product(range(42, 55), SIZES, ("sgd", "adamw")):
        base = ["--workload", workload, "--optimizer", optimizer, "--lr", LEARNING_RATE[optimizer], "--seed", str(seed), "--steps", "8"]
        own, base = base, [*base, "--batch", "16"]
        single, ddp = ["--mode", "single", "--align-world", "2", *base], ["--mode", "ddp", "--world", "2", *base]
        twin3 = ["--mode", "twin", "--world", "3", *base]
        unused, warm = ["--workload-option", "unused_layer=1"], ["--scheduler", "warmup", "--scheduler-period", "5"]
        name = f"{workload} {optimizer} seed {seed}"
        yield f"{name}: single", single, ddp
        yield f"{name}: twin", ["--mode", "twin", "--world", "2", *base], ddp
        yield f"{name}: again", ddp, ddp + ["--name", "again"]
        yield f"{name}: buckets", ddp, ddp + ["--bucket-mb", "0.01"]
        yield f"{name}: bucket view", ddp, ddp + ["--bucket-view"]
        yield f"{name}: threads", ddp, ddp + ["--threads", "2"]
        yield f"{name}: unused", single + unused, ddp + unused + ["--find-unused"]
        yield f"{name}: warm-up", single + warm, ddp + warm
        yield f"{name}: ordered", twin3, twin3 + ["--reduction", "ordered"]
        yield f"{name}: single of 3", ["--mode", "single", "--align-world", "3", *base], twin3
        yield f"{name}: micro-batches", single + ["--join-from", "1"], single
        yield f"{name}: accumulated", single + ["--accumulate", "2"], ddp + ["--accumulate", "2"]
        yield f"{name}: accumulation for ranks", ["--mode", "single", "--align-world", "4", *base], ddp + ["--data-world", "4"]
        if SIZES[workload]:
            uneven = [*own, "--batch", str(epoch_batch(workload, 2, 4) - 7)]
            yield f"{name}: uneven last batch", ["--mode", "single", "--align-world", "2", *uneven], ["--mode", "ddp", "--world", "2", *uneven]


SMALL = [dict(cause="A1"), dict(cause="B2", prove=True, extra=("--accumulate", "2")), dict(cause="B6", extra=("--accumulate", "3")),
         dict(cause="B5", workload="char-gpt", extra=("--workload-option", "ragged=1")),
         dict(cause="C7", first_step=0), dict(cause="D1"), dict(cause="D5", extra=("--clip-norm", "0.1"))]
