# SPDX-License-Identifier: Apache-2.0
"""Counts the tests that ran, and those that were skipped by reason, in the results of one ctest run.

test_summary.py RESULTS.xml [--no-skips]    RESULTS.xml: what `ctest --output-junit` wrote, with the whole output of every test

Skips of GoogleTest, unittest (-v), pytest (-rs) and whole entries (return code 77) count one by one. With --no-skips a skip that is not
for a CPU feature or an absent device is an error: `./dev setup --everything` installs the rest.
"""

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import NamedTuple

UNNAMED = "no reason given"
# A machine lacks these, and no installation brings them.
HARDWARE = ("needs a CPU ", "needs a device ")


class Count(NamedTuple):
    ran: int
    skipped: Counter


def counted(total: int, reasons: list[str]) -> Counter:
    """The reasons, and as many unnamed ones as `total` is larger."""
    return Counter(reasons) + Counter({UNNAMED: max(0, total - len(reasons))})


def googletest(text: str) -> Count | None:
    ran = [int(n) for n in re.findall(r"^\[=+\] (\d+) tests? from .* ran\.", text, re.M)]
    if not ran:
        return None
    skipped = sum(int(n) for n in re.findall(r"^\[  SKIPPED \] (\d+) tests?", text, re.M))
    reasons = [reason.strip() or UNNAMED for reason in re.findall(r"^\S+:\d+: Skipped\n(.*)$", text, re.M)]
    return Count(sum(ran) - skipped, counted(skipped, reasons))


def unittest(text: str) -> Count | None:
    ran = [int(n) for n in re.findall(r"^Ran (\d+) tests? in ", text, re.M)]
    if not ran:
        return None
    skipped = sum(int(n) for n in re.findall(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", text, re.M))
    found = re.findall(r"^( *)(\S*).*?(?:\.\.\. )?skipped (['\"])(.*)\3$", text, re.M)
    # "Ran" counts neither the subtests, which are indented, nor the classes whose setUpClass skips.
    whole = sum(not indented and first not in ("setUpClass", "setUpModule") for indented, first, _, _ in found)
    return Count(sum(ran) - whole, counted(skipped, [reason.replace("\\'", "'") for _, _, _, reason in found]))


def pytest(text: str) -> Count | None:
    summaries = re.findall(r"^(?:=+ )?((?:\d+ [a-z ]+, )*\d+ [a-z ]+) in [\d.]+s", text, re.M)
    if not summaries:
        return None
    numbers = Counter()
    for word_count in ", ".join(summaries).split(", "):
        number, word = word_count.split(" ", 1)
        numbers[word] += int(number)
    reasons = []
    for times, reason in re.findall(r"^SKIPPED \[(\d+)\] (?:\S+:\d+|\S+): (.*)$", text, re.M):
        missing = re.match(r"could not import '([\w.]+)'", reason)
        reasons += [f"needs the package {missing[1]}" if missing else reason] * int(times)
    return Count(sum(numbers[w] for w in ("passed", "failed", "xfailed", "xpassed")), counted(numbers["skipped"], reasons))


def count(results: Path) -> Count:
    ran, skipped = 0, Counter()
    for entry in ElementTree.parse(results).iter("testcase"):
        text = entry.findtext("system-out") or ""
        if entry.get("status") == "notrun":
            named = re.search(r"^skipped (['\"])(.*)\1$", text, re.M)
            skipped[named[2] if named else f"{entry.get('name')} did not run"] += 1
            continue
        one = googletest(text) or unittest(text) or pytest(text) or Count(1, Counter())
        ran += one.ran
        skipped += one.skipped
    return Count(ran, skipped)


def line(tests: Count) -> str:
    by_number = [f"{n} {reason}" for reason, n in sorted(tests.skipped.items(), key=lambda each: (-each[1], each[0]))]
    return f"ran {tests.ran} tests, skipped {tests.skipped.total()}" + (": " + "; ".join(by_number) if by_number else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--no-skips", action="store_true", help="only a CPU feature or an absent device may be a reason")
    given = parser.parse_args()
    tests = count(given.results)
    lacking = [reason for reason in tests.skipped if not reason.startswith(HARDWARE)]
    if given.no_skips and lacking:
        print("skipped for another reason than a CPU feature or an absent device:", *lacking, sep="\n  ", file=sys.stderr, flush=True)
    print(line(tests), flush=True)
    return 1 if given.no_skips and lacking else 0


if __name__ == "__main__":
    sys.exit(main())
