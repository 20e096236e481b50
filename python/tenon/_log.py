# SPDX-License-Identifier: Apache-2.0
"""Log messages of the steps of compiling and loading: logger "tenon" of the module `logging`, level INFO."""

from __future__ import annotations

import logging
import os
import warnings

logger = logging.getLogger("tenon")
logger.addHandler(logging.NullHandler())


def set_log_level(level: int | str) -> None:
    """Shows messages of Tenon from this level on ("debug", "info", "warning", ..., or a number of the module `logging`) on stderr, or where
    the program's own handlers write. The variable TENON_LOG=info sets it when the package is imported. Raises ValueError.
    """
    logger.setLevel(level.upper() if isinstance(level, str) else level)
    if not logging.getLogger().handlers and not any(isinstance(h, logging.StreamHandler) for h in logger.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)


def enabled() -> bool:
    return logger.isEnabledFor(logging.INFO)


def write(text: str) -> None:
    logger.info(text)


if os.environ.get("TENON_LOG"):
    try:
        set_log_level(os.environ["TENON_LOG"])
    except ValueError as error:
        warnings.warn(f"TENON_LOG is no level of the module logging: {error}", stacklevel=2)
