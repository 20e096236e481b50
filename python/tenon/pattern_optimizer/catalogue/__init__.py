# SPDX-License-Identifier: Apache-2.0
"""Patterns of the catalogue that are on the interface itself: sets of classes by name.

experimental: fused kernels for CUDA (`OptimizationOptions(processor="CUDA")`), nodes of a domain that only such a runtime supports.
fix: mends models. investigation: reports, or folds parts of a model into local functions. What changes results is in no set.
"""

from __future__ import annotations

from ..environment import short_name
from ..pattern import PatternOptimization
from .arithmetic import (
    AddAddMulMulBroadcastPattern,
    AddAddMulMulPattern,
    AddMulBroadcastPattern,
    AddMulPattern,
    AddMulSharedInputBroadcastPattern,
    AddMulSharedInputPattern,
    SubMulBroadcastPattern,
    SubMulPattern,
)
from .elementwise import MulSigmoidPattern, NegXplus1Pattern, ReplaceZeroPattern
from .functions import FunctionPowTanhPattern, FunctionSplitRotaryMulPattern
from .investigation import BinaryInvestigation
from .masks import TriMatrixPattern
from .narrowing import ComputationCastOpCastPattern
from .packed_matmul import FunctionPackedMatMulPattern
from .rotary import SimpleRotaryPattern
from .scatter import AddReductionScatterND, ConstantOfShapeScatterNDPattern, MaskedShapeScatterNDPattern
from .transposes import AddMulTransposePattern, TransposeCastPattern

SETS: dict[str, list[type[PatternOptimization]]] = {
    "experimental": [
        AddAddMulMulPattern,
        AddAddMulMulBroadcastPattern,
        AddMulPattern,
        AddMulBroadcastPattern,
        AddMulSharedInputPattern,
        AddMulSharedInputBroadcastPattern,
        AddMulTransposePattern,
        ConstantOfShapeScatterNDPattern,
        MaskedShapeScatterNDPattern,
        MulSigmoidPattern,
        NegXplus1Pattern,
        ReplaceZeroPattern,
        SimpleRotaryPattern,
        SubMulPattern,
        SubMulBroadcastPattern,
        TransposeCastPattern,
        TriMatrixPattern,
    ],
    "fix": [AddReductionScatterND],
    "investigation": [BinaryInvestigation, FunctionPackedMatMulPattern, FunctionPowTanhPattern, FunctionSplitRotaryMulPattern],
}

BY_NAME_ONLY = [ComputationCastOpCastPattern]

CLASSES = {short_name(kind.__name__): kind for kinds in [*SETS.values(), BY_NAME_ONLY] for kind in kinds}


def named(name: str) -> list[type[PatternOptimization]]:
    """The classes of a set, or the one of that name (with "Pattern" or without); none where it is neither."""
    kind = CLASSES.get(short_name(name))
    return SETS.get(name, [kind] if kind else [])
