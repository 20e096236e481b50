# SPDX-License-Identifier: Apache-2.0
"""The same as `tenon time` in Python: wheels contain no program, so a second interpreter runs and times engines."""

from __future__ import annotations

import argparse
import sys

from . import TenonError
from ._tenon import _keep_results, _run_time


def command() -> list[str]:
    """The command line of a Python with this one's sys.path that runs main(). Raises TenonError: bad_usage."""
    if not sys.executable:
        raise TenonError(
            "bad_usage", "measure", "the path of the Python interpreter is not known", "sys.executable to be set", "nothing", ""
        )
    folders = [folder for folder in sys.path if isinstance(folder, str)]
    return [sys.executable, "-c", f"import sys; sys.path[:] = {folders!r}; from tenon._time import main; main()"]


def main() -> None:
    parser = argparse.ArgumentParser("tenon time")
    parser.add_argument("engines", nargs="+")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--backend-lib", action="append", default=[])
    parser.add_argument("--custom-ops", action="append", default=[])
    parser.add_argument("--plugin", action="append", default=[])
    parser.add_argument("--results", action="store_true")
    given = parser.parse_args()
    libraries = dict(text.split("=", 1) for text in given.backend_lib)
    print("ready", flush=True)
    for engine in given.engines:
        how = (engine, given.threads, libraries, given.custom_ops, given.plugin)
        try:
            if given.results:
                _keep_results(*how)
                print("ran", flush=True)
            else:
                print(f"{_run_time(*how):.0f} ns", flush=True)
        except TenonError as error:
            print(f"- {error.what}", flush=True)
