# SPDX-License-Identifier: Apache-2.0
"""The history keeps what may be kept, and the page says what the history says."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/bench"))

import history  # noqa: E402
import page  # noqa: E402
from cases import Case  # noqa: E402

CPUINFO = """processor\t: 0
model name\t: Some CPU 9000
cpu family\t: 25
model\t\t: 1
flags\t\t: fpu avx2 avx512f

processor\t: 1
model name\t: Some CPU 9000
"""
KNOWN = {name: Case(name, f"work {name}", "bert", {}, bar={"ratio": 1.5, "share": 0.9}) for name in ("a", "b", "c")}


def versus(ratio: float, quiet: bool = True) -> dict:
    return {
        "ratio": ratio,
        "low": ratio - 0.1,
        "high": ratio + 0.1,
        "median_ms": 3.0,
        "kept": 7,
        "tried": 9,
        "quiet": quiet,
        "version": "1.2",
    }


def run(rows: dict, date: str = "2026-01-01", threads: int = 2, cores: int = 2) -> dict:
    kind = history.machine(CPUINFO, cores)
    return {"machine": kind, "date": date, "command": "./dev bench a", "note": "", "threads": threads, "cold": False, "rows": rows}


def row(ratio: float, **changed: object) -> dict:
    vs = {"onnxruntime": versus(ratio), "openvino-static": versus(ratio + 1)}
    return {"share": 0.83, "vs": vs, "best": "onnxruntime", "counts": True, "unlike": [], "failed": {}, "largest_difference": {}} | changed


class History(unittest.TestCase):
    def test_a_machine_is_its_kind_alone(self):
        kind = history.machine(CPUINFO, 2)
        self.assertEqual(kind, {"cpu": "Some CPU 9000", "family": "25.1", "features": ["avx2", "avx512f"], "cores": 2})
        self.assertEqual(history.file_of(kind, Path("r")).name, "some-cpu-9000-25-1-2-cores.jsonl")

    def test_runs_are_kept_in_order_by_kind_and_the_oldest_go(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for k in range(history.KEPT + 5):
                history.append(run({"a": row(k)}), folder)
            history.append(run({"a": row(1)}, cores=8), folder)
            self.assertEqual(len(list(folder.iterdir())), 2)
            ratios = [each["rows"]["a"]["vs"]["onnxruntime"]["ratio"] for each in history.runs(folder) if each["machine"]["cores"] == 2]
            self.assertEqual(ratios, list(range(5, history.KEPT + 5)))

    def test_a_run_that_goes_on_takes_the_place_of_itself(self):
        with tempfile.TemporaryDirectory() as name:
            for rows, again in [({"b": row(9)}, False), ({"a": row(1)}, False), ({"a": row(1), "b": row(2)}, True)]:
                history.append(run(rows), Path(name), again)
            self.assertEqual([sorted(each["rows"]) for each in history.runs(Path(name))], [["b"], ["a", "b"]])

    def test_files_stay_small(self):
        lines = ["x" * 1000] * 39 + ["y" * 290_000]
        kept = history.trimmed(lines)
        self.assertLessEqual(sum(len(line) + 1 for line in kept), history.LARGEST_BYTES)
        self.assertEqual(kept[-1][0], "y")

    def test_figures_have_four_digits(self):
        self.assertEqual(
            history.rounded({"a": [1.23456789, 12345.678], "b": "1.23456", "c": 3}), {"a": [1.235, 12350.0], "b": "1.23456", "c": 3}
        )

    def test_what_is_kept_here_is_small_and_can_be_read(self):
        self.assertLess(sum(path.stat().st_size for path in history.FOLDER.glob("*.jsonl")), 1_000_000)
        for each in history.runs():
            self.assertEqual(set(each), {"machine", "date", "command", "note", "threads", "cold", "rows"})


class Page(unittest.TestCase):
    def lines(self, *runs: dict) -> list[str]:
        return page.text(list(runs), KNOWN).splitlines()

    def test_each_row_shows_its_newest_figures(self):
        lines = self.lines(run({"a": row(1.1), "b": row(2.2)}), run({"a": row(3.3)}, "2026-02-02"))
        self.assertEqual(
            [line for line in lines if line.startswith("| work ")][1:],
            [
                "| work a | 3.30 (3.20 to 3.40) | 1.5 | 83 % | 90 % | 3.30 |  | 4.30 |  |  | 2026-02-02 |",
                "| work b | 2.20 (2.10 to 2.30) | 1.5 | 83 % | 90 % | 2.20 |  | 3.20 |  |  | 2026-01-01 |",
            ],
        )

    def test_kinds_of_machines_and_of_runs_have_tables_of_their_own(self):
        lines = self.lines(run({"a": row(1)}), run({"a": row(2)}, threads=1), run({"a": row(3)}, cores=8))
        self.assertEqual(len([line for line in lines if line.startswith("| work a")]), 3)

    def test_what_is_noisy_fails_differs_or_does_not_count_is_reported(self):
        noisy = row(1.4, vs={"onnxruntime": versus(1.4, quiet=False)}, failed={"torch-compile": "no"}, unlike=["torch-eager"])
        noisy["largest_difference"] = {"torch-eager": 0.7}
        lines = self.lines(
            run(
                {
                    "a": noisy,
                    "b": {"error": "not supported yet: x"},
                    "c": row(9, counts=False, unlike=["onnxruntime"]) | {"largest_difference": {"onnxruntime": 5}},
                }
            )
        )
        text = "\n".join(lines)
        self.assertIn("| work a | ~1.40 (1.30 to 1.50) | 1.5 | ~83 % | 90 % | ~1.40 |  |  | differs | fails |", text)
        self.assertIn("| work b | Tenon fails |", text)
        self.assertIn("- work b: Tenon: not supported yet: x", text)
        self.assertIn("| work c | results differ, does not count: 9.00 |", text)
        self.assertIn("- work a: PyTorch, eager differs by 0.7 standard deviations", text)

    def test_a_share_of_short_products_is_reported_where_each_had_its_own_peak(self):
        known = {"a": Case("a", "work a", "bert", {}, precision="int8")}
        for products, share in (({}, ""), ({"products": {"int8": {"gflop": 3, "peak_gflops": 2000}}}, "83 %")):
            text = page.text([run({"a": row(1.25, **products)})], known)
            self.assertIn(f"| work a | 1.25 (1.15 to 1.35) |  | {share} |  |", text)

    def test_rows_that_are_no_case_follow_the_table(self):
        report = {"rows": [{"what": "build BERT-base", "figure": "0.4 s", "to_be": "at most 0.5 s"}]}
        self.assertIn("| build BERT-base | 0.4 s | at most 0.5 s | 2026-01-01 |", self.lines(run({"build": report})))

    def test_the_page_is_what_the_history_gives(self):
        self.assertEqual(page.PAGE.read_text(encoding="utf-8"), page.current(), "run ./dev docs")

    def test_what_is_written_can_be_read_again(self):
        one = run({"a": row(1.25)})
        self.assertEqual(page.text([json.loads(json.dumps(history.rounded(one)))], KNOWN), page.text([one], KNOWN))


if __name__ == "__main__":
    unittest.main()
