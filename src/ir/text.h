// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace tenon::ir {

/// The text form. One line a node; prints, parses and prints the same:
///
///   graph main(x: f32[batch,64], mask: bool[batch]) {
///     const w: f32[2,2] = [1, 2, 3, 4]
///     const big: f32[1024,1024] = @3            // bytes apart from the text (TextConstants), by number
///     h: f32[batch,64] = Gemm(x, w, _, alpha=0.5, transB=1)
///     a, b = com.example::Split2(h)
///     r = If(c) then_branch={ graph(h) { ... return q } } captures=[h]
///     return r
///   }
///
/// Symbols whose order or bounds does not follow from the types are in front: `symbol batch in 1 to 8, seq`. Also understood:
/// `x: f32[3] = [1, 2, 3]` (an input with a default, after those without), `return q as "logits"` (the output's name), `_, b = ...` (a
/// result that is not requested), `() = ...` (none), `opset "" = 17`, `Relu(x) @"node name"`, `const w: f16[64,64] = splat(0.5)`, nested
/// brackets in elements; before `return`, states by their input and output: `state k(past) = present grows 2 to 4096` (the axis that grows
/// and its capacity), `state m(old) = new from [0, 1]` (an initial value).
///
/// Types of results may be left out; they are inferred when the graph is parsed with an op table.
struct TextConstants {
  std::vector<ConstantRef> constants;
};
/// Constants and tensor attributes over `inline_limit` elements are appended to `big` and print as @k, strings as their elements. Without
/// `big` they print as splat(x), or as digest("..."), which does not parse again.
std::string print(const Graph& graph, TextConstants* big = nullptr, int64_t inline_limit = 64);
/// Errors: bad_graph with line and column. Limits: 64 MiB of text, 100 levels of nesting.
Result<std::unique_ptr<Graph>> parse(std::string_view text, const OpTable& ops, const TextConstants* big = nullptr);
/// Parses a graph for inspection, not for compilation: the text may lack the bytes of constants, types are those that the text states, and
/// no inference runs. A constant whose bytes the text lacks becomes a Constant::Reference; such a tensor attribute becomes a string with
/// its type. Errors and limits: those of parse().
Result<std::unique_ptr<Graph>> parse_structure(std::string_view text, const OpTable& ops);
/// "f32[n,3]", "seq(f32[*])", "optional(seq(i64[3]))". Errors: bad_graph.
Result<Type> parse_type(std::string_view text, Symbols& symbols);

}  // namespace tenon::ir
