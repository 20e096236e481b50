// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "codegen/plan/plan.h"
#include "ir/text.h"

namespace tenon::codegen {

/// The words for enumerators in the text of a plan, in the order of GroupKind, ops::Combine and ops::MaskedRows.
inline constexpr std::array<std::string_view, 8> kGroupWords = {"nests", "contract", "attention", "segment",
                                                                "sizes", "control",  "check",     "rows"};
inline constexpr std::array<std::string_view, 7> kCombineWords = {"none", "sum", "product", "min", "max", "logical_and", "logical_or"};
inline constexpr std::array<std::string_view, 3> kMaskedRowsWords = {"zero", "nan", "clean"};

/// The text form of a plan; codegen/text/parse_plan.h reads it.
///
///   plan
///     symbol n in 1 to 64, m             order and bounds of sizes, where the rest of the text does not imply them
///     v0: f32[n, 64] fixed               arrays that are in use: v are values of the graph, t temporaries, c constants
///     c1: f32[64, 16] = @0               number in `constants`; small constants are written out, equal elements as splat(0.5)
///     t2: f32[n, 16] in order 10         `padded by 16`, `within 0.1 and 0.1 of zeros`, `grows 0 to 64`, `shares v0`, `in units n`
///     inputs v0
///     outputs t2
///     state cache input 0 output 0       `in place`, where the new value is written to the memory of the old one
///   contract                             `contract panels c4 scales c5`, `nests outer 2`, `attention scale 0.125 masked zero`, ...
///     region by axes 0, units n, parts 4
///     for n, 16, +64                     axes: +reduced, ~scanned, `_` where there is none
///       x0 = v0[i0, i2] if less(i2, 63) else 0
///       x1 = c1[i2, i1]                  or an element number: c1(i0)
///       where x3
///       t2[i0, i1] = sum of mul(x0, x1)
///     then for n, 16                     the epilogue; `then of x1 in 4 columns for`
///       ...
///
/// Left out are strides and roles of contractions, which the rest implies, the limits of the target, and nodes and values of the graph.
/// constants: constants that the text refers to by number are appended to it; may be null.
std::string text_of(const Plan& plan, ir::TextConstants* constants);

}  // namespace tenon::codegen
