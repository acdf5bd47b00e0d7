"""lockstep-cli probe as the host: what becomes of a run whose command ends in one way or another. Ranks are fakes without torch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2]
CLI = os.environ.get("LOCKSTEP_CLI", str(SOURCE / "build/bin/lockstep-cli"))
RANKS = str(Path(__file__).resolve().parent / "scripts/fake_ranks.py")


class CommandRun(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = f"{folder.name}/p"
        self.call("init", self.project)

    def call(self, *arguments: str) -> "tuple[int, Any, str]":
        done = subprocess.run([CLI, "--json", *arguments], capture_output=True, text=True, timeout=120)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    def command(self, *words: str, world: int = 0) -> "list[str]":
        return ["probe", self.project, "--name", "r", "--world", str(world or len(words)), "--", sys.executable, RANKS,
                "lockstep_probe", *words]

    def probe(self, *words: str, world: int = 0) -> "tuple[int, Any, str]":
        return self.call(*self.command(*words, world=world))

    def test_ranks_that_finish(self) -> None:
        code, run, notes = self.probe("ok", "ok")
        self.assertEqual((code, run["state"], run["exit"], run["last_step"]), (0, "finished", [0, 0], 5))
        self.assertIn("Something to know.", notes)
        _, exported, _ = self.call("export", self.project, "r", "--series", "loss")
        self.assertEqual([s["values"][-1] for s in exported["series"]], [0.2, 1.2])
        _, runs, _ = self.call("runs", self.project)
        self.assertEqual((runs[0]["config"]["mode"], runs[0]["config"]["batch"], runs[0]["config"]["world"]), ("fsdp", 7, 2))
        self.assertEqual(runs[0]["config"]["workload_options"], {"sampler": "RandomSampler"})
        self.assertEqual(runs[0]["environment"]["torch"], "none")

    def test_the_rank_that_failed_is_named_and_not_the_one_that_noticed(self) -> None:
        code, run, _ = self.probe("echo", "raise")
        self.assertEqual((code, run["state"], run["exit"]), (4, "failed", [1, 1]))
        self.assertEqual((run["first_failure"]["rank"], run["first_failure"]["step"]), (1, 6))
        self.assertIn("no more data", run["first_failure"]["sentence"])

    def test_a_killed_rank_is_named_and_its_steps_are_kept(self) -> None:
        code, run, _ = self.probe("echo", "kill")
        self.assertEqual((code, run["state"], run["first_failure"]["rank"]), (4, "failed", 1))
        self.assertIn("without a last report", run["first_failure"]["sentence"])
        _, exported, _ = self.call("export", self.project, "r", "--series", "param_fingerprint", "--rank", "1")
        self.assertEqual(exported["series"][0]["steps"], [0, 1, 2, 3, 4, 5])

    def test_a_command_that_fails_before_it_trains_is_quoted(self) -> None:
        code, run, _ = self.probe("refuse")
        self.assertEqual((code, run["state"], run["last_step"]), (3, "failed", None))
        self.assertIn("no such option", run["first_failure"]["sentence"])

    def test_another_number_of_ranks_than_expected_is_named(self) -> None:
        code, run, _ = self.probe("liar", "ok")
        self.assertEqual((code, run["state"]), (4, "failed"))
        self.assertIn("--world 3", run["first_failure"]["sentence"])
        code, run, _ = self.probe("ok", "never")
        self.assertIn("Rank 1 never reported", run["first_failure"]["sentence"])

    def test_how_it_was_started_is_kept(self) -> None:
        self.probe("ok", "ok")
        _, runs, _ = self.call("runs", self.project)
        command = runs[0]["config"]["command"]
        self.assertEqual(command["words"][1:], [RANKS, "lockstep_probe", "ok", "ok"])
        self.assertEqual((command["program"], command["folder"]), (os.path.abspath(sys.executable), os.getcwd()))
        self.assertEqual((command["world"], command["ddp"], runs[0]["auxiliary"]), (2, True, False))

    def test_a_detached_command_answers_at_once_and_the_next_waits_for_it(self) -> None:
        hanging = self.command("hang")
        code, first, _ = self.call("probe", self.project, "--detach", *hanging[2:])
        self.assertEqual((code, first["state"]), (0, "running"))
        waiting = subprocess.Popen([CLI, "--json", "probe", self.project, "--detach", "--after", first["run"],
                                    *self.command("ok")[2:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.6)
        self.assertIsNone(waiting.poll())
        _, runs, _ = self.call("runs", self.project)
        self.assertEqual(len(runs), 1)
        # Whoever is stopped while it waits starts nothing afterwards.
        given_up = subprocess.Popen([CLI, "probe", self.project, "--detach", "--after", first["run"],
                                     *self.command("ok")[2:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.6)
        given_up.terminate()
        _, errors = given_up.communicate(timeout=60)  # ends with the process that held the pipes
        self.assertEqual(given_up.returncode, 143)
        self.assertIn("The wait for it was stopped", errors)
        self.assertIsNone(waiting.poll())
        self.call("stop", self.project, first["run"])
        _, errors = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 4)  # stopped, so there is nothing to go on from
        self.assertIn("its state is stopped", errors)
        _, done, _ = self.probe("ok")
        code, second, _ = self.call("probe", self.project, "--detach", "--after", done["run"], *self.command("ok")[2:])
        self.assertEqual((code, second["run"]), (0, "r-03"))
        for _ in range(200):
            _, runs, _ = self.call("runs", self.project)
            if runs[0]["state"] == "finished":
                break
            time.sleep(0.05)
        self.assertEqual((len(runs), runs[0]["state"]), (3, "finished"))

    def start_hanging(self) -> "subprocess.Popen[str]":
        process = subprocess.Popen([CLI, "--json", *self.command("hang", "hang")], stdout=subprocess.PIPE, text=True)
        log = Path(self.project) / "runs/r-01/rank0.log"
        for _ in range(600):
            if log.exists() and log.read_text().count("hanging") == 2:
                return process
            time.sleep(0.05)
        self.fail("the ranks do not come up")

    def test_a_stop_request_ends_the_command(self) -> None:
        process = self.start_hanging()
        code, run, _ = self.call("stop", self.project, "r")
        process.communicate()
        self.assertEqual((code, run["state"], process.returncode), (0, "stopped", 143))

    def test_nothing_outlives_a_killed_host(self) -> None:
        process = self.start_hanging()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for _ in range(200):
            if not self.processes_of_the_run():
                break
            time.sleep(0.05)
        self.assertEqual(self.processes_of_the_run(), [])
        _, runs, _ = self.call("runs", self.project)
        self.assertEqual(runs[0]["state"], "interrupted")

    def processes_of_the_run(self) -> "list[str]":
        mark = f"LOCKSTEP_RUN_DIR={self.project}".encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if mark in Path(f"/proc/{pid}/environ").read_bytes():
                    found.append(pid)
            except OSError:
                continue
        return found


if __name__ == "__main__":
    unittest.main()
