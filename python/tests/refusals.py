# SPDX-License-Identifier: Apache-2.0
"""Calls that Tenon refuses."""

import pytest
import tenon


def refused(code: str, call) -> tenon.TenonError:
    """The error of the call, whose code it has."""
    with pytest.raises(tenon.TenonError) as raised:
        call()
    assert raised.value.code == code
    return raised.value
