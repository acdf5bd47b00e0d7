"""The example scripts (tests/e2e/scripts), alone and with two ranks: the records show where the planted fault acts first.

The quick cases; all of them with LOCKSTEP_SCRIPTS=all in the environment (about 90 seconds). run_scripts.py does the same
through lockstep-cli, and asks the diagnosis.
"""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

from first_difference import first_difference, ranks_part
from probed import run

SCRIPTS = Path(__file__).resolve().parents[1] / "e2e/scripts"
sys.path.insert(0, str(SCRIPTS))

from cases import CASES  # noqa: E402


class Scripts(unittest.TestCase):
    def test_faults_are_seen_where_they_act(self) -> None:
        single: dict = {}
        for case in CASES:
            if not case.quick and os.environ.get("LOCKSTEP_SCRIPTS") != "all":
                continue
            with self.subTest(case.name):
                path = SCRIPTS / f"{case.script}.py"
                if case.script not in single:
                    single[case.script] = run(path)
                several = run(path, world=2, arguments=(case.fault or "-",))
                for outcome in (*single[case.script], *several):
                    self.assertEqual(outcome.code, 0, outcome.output)
                    self.assertGreaterEqual(max(outcome.recorded.steps), 5, outcome.recorded.notes())
                ranks = [outcome.recorded for outcome in several]
                expected = (case.quantity, case.step) if case.quantity else None
                self.assertEqual(first_difference([single[case.script][0].recorded], ranks), expected)
                self.assertEqual(ranks_part(ranks), case.ranks_part)


if __name__ == "__main__":
    unittest.main()
