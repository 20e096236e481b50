# SPDX-License-Identifier: Apache-2.0
"""What is made of timings, on timings that are made up: no clock decides here."""

import sys
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/bench"))

import figures  # noqa: E402
from figures import Sample  # noqa: E402


def sample(ms: float, peaks: tuple[float, float] = (100, 100), rates: tuple[float, float] = (20, 20)) -> Sample:
    return Sample([ms, ms, 3 * ms], list(peaks), list(rates))


class Intervals(unittest.TestCase):
    def test_holds_the_median_as_often_as_it_says(self):
        random = np.random.default_rng(7)
        held = 0
        for seed in range(200):
            low, high = figures.interval(list(random.standard_normal(25)), seed=seed)
            held += low <= 0 <= high
        self.assertGreater(held, 180)  # of 200; 190 on average
        self.assertLess(held, 200)

    def test_one_seed_gives_one_interval(self):
        values = [1.0, 1.2, 0.9, 1.1, 1.4]
        self.assertEqual(figures.interval(values), figures.interval(values))
        self.assertEqual(figures.interval([2.0]), (2.0, 2.0))

    def test_is_narrower_where_there_are_more_values(self):
        random = np.random.default_rng(3)
        few, many = (figures.interval(list(random.standard_normal(n))) for n in (9, 900))
        self.assertLess(many[1] - many[0], few[1] - few[0])


class Rounds(unittest.TestCase):
    def test_what_was_disturbed_is_no_quiet_sample(self):
        for peaks, best, quiet in [
            ([100, 100], 100, True),
            ([96, 100], 100, True),
            ([94, 100], 100, False),  # they differ by more than 5 %
            ([79, 79], 100, False),  # both below 80 % of the best
            ([81, 81], 100, True),
        ]:
            self.assertEqual(figures.is_quiet(peaks, best), quiet, (peaks, best))

    def test_disturbed_rounds_are_left_out_for_that_pair(self):
        ours = [sample(10)] * 6 + [sample(10, (60, 100)), sample(10)]
        others = [sample(20)] * 6 + [sample(99), sample(77, (100, 70))]
        found = figures.compared(ours, others, 100)
        self.assertEqual((found["kept"], found["tried"], found["quiet"]), (6, 8, True))
        self.assertEqual((found["ratio"], found["low"], found["high"], found["median_ms"]), (2, 2, 2, 20))

    def test_all_count_and_are_called_noisy_where_too_few_are_quiet(self):
        ours, others = [sample(10, (60, 100))] * 5 + [sample(10)], [sample(30)] * 6
        found = figures.compared(ours, others, 100)
        self.assertEqual((found["kept"], found["quiet"], found["ratio"]), (6, False, 3))

    def test_ratios_are_taken_within_rounds(self):
        """A machine that gets slower for both changes no ratio."""
        speeds = [1, 4, 2, 8, 1, 16]
        found = figures.compared([sample(10 * s) for s in speeds], [sample(15 * s) for s in speeds], 100)
        self.assertAlmostEqual(found["ratio"], 1.5)
        self.assertAlmostEqual(found["high"], 1.5)


class Partition(unittest.TestCase):
    def test_the_longer_of_both_times_is_the_limit(self):
        compute = figures.share([sample(10)] * 5, flops=[0.5e9, 0, 0], weight_bytes=1e6, best=100)  # 5 ms at 100 GFLOP/s
        self.assertAlmostEqual(compute["share"], 0.5)
        self.assertEqual(compute["bound"], "compute")
        memory = figures.share([sample(10)] * 5, flops=[0.5e9, 0, 0], weight_bytes=160e6, best=100)  # 8 ms at 20 GB/s
        self.assertAlmostEqual(memory["share"], 0.8)
        self.assertEqual(memory["bound"], "memory")

    def test_operations_of_short_products_take_their_own_peak(self):
        mixed = [Sample([10], [100, 100], [20, 20], [[200, 200], [300, 500]])] * 5
        found = figures.share(mixed, flops=[0.2e9, 0.4e9, 1.2e9], weight_bytes=0, best=100)
        self.assertAlmostEqual(found["share"], 0.7)  # 2, 2 and 3 ms
        self.assertEqual({name: each["peak_gflops"] for name, each in found["products"].items()}, {"bf16": 200, "int8": 400})
        of_f32 = figures.share(mixed, flops=[0.2e9, 0, 0], weight_bytes=0, best=100)
        self.assertEqual((of_f32["share"], "products" in of_f32), (0.2, False))

    def test_each_sample_has_the_limits_that_were_measured_next_to_it(self):
        slow = [sample(20, (50, 50))] * 3
        found = figures.share(slow + [sample(10)] * 4, flops=[0.5e9, 0, 0], weight_bytes=0, best=50)
        self.assertAlmostEqual(found["share"], 0.5)


class Results(unittest.TestCase):
    def test_differences_are_reported_in_deviations_of_the_output(self):
        a = np.array([0.0, 2.0, 0.0, 2.0])  # deviation 1
        self.assertEqual(figures.difference([a], [a]), 0)
        self.assertAlmostEqual(figures.difference([a], [a + 0.25]), 0.25)
        self.assertAlmostEqual(figures.difference([10 * a], [10 * a + 0.25]), 0.025)

    def test_a_single_number_is_its_own_measure(self):
        self.assertAlmostEqual(figures.difference([np.array([[14.0]])], [np.array([[14.0 + 1.4e-6]])]), 1e-5)
        self.assertAlmostEqual(figures.difference([np.array([14.0])], [np.array([15.4])]), 10)
        self.assertEqual(figures.difference([np.full(3, np.nan)], [np.full(3, np.inf)]), float("inf"))

    def test_what_cannot_be_compared_is_infinitely_far(self):
        a = np.array([1.0, 2.0, np.nan])
        for b in ([a[:2]], [np.array([1.0, 2.0, 3.0])], [np.array([1, 2, 3])], [], [a, a]):
            self.assertEqual(figures.difference([a], b), float("inf"), b)
        self.assertEqual(figures.difference([a], [a.copy()]), 0)  # the same places have no number
        self.assertEqual(figures.difference([np.array([1, 2])], [np.array([1, 3])]), float("inf"))

    def test_one_that_differs_is_wrong_and_many_make_us_wrong(self):
        self.assertEqual(figures.judged({"a": 0, "b": 1e-5, "c": 1}), {"unlike": ["c"], "counts": True})
        self.assertEqual(figures.judged({"a": 0, "b": float("nan"), "c": 1})["counts"], False)
        self.assertEqual(figures.judged({"a": 1})["counts"], False)
        self.assertEqual(figures.judged({}), {"unlike": [], "counts": True})

    def test_products_of_bf16_may_differ_by_more(self):
        self.assertEqual(figures.judged({"a": 0.1})["unlike"], ["a"])
        self.assertEqual(figures.judged({"a": 0.1, "b": 1}, "bf16"), {"unlike": ["b"], "counts": False})


if __name__ == "__main__":
    unittest.main()
