// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.h"

namespace tenon::passes {

/// Erases nodes whose results nobody uses and constants without users. Keeps nodes with effects and graph inputs.
Result<bool> dead_code(Graph& graph, Context& context);

/// Replaces nodes whose operands are all constant: results of at most 64 KB are computed by the reference at once; larger ones become lazy
/// constants where slice, permute, reshape, concat, cast or scale expresses them; other nodes stay. No weight is read or copied.
Result<bool> fold_constants(Graph& graph, Context& context);

/// Copies constants that a body captures into the body, so that rules in the body match them and kernels can pack them.
Result<bool> sink_constants(Graph& graph, Context& context);

/// Replaces results whose elements are all known numbers (Shape of a static axis, and integers computed from it) by constants.
Result<bool> shape_arithmetic(Graph& graph, Context& context);

/// Equal constants, then equal nodes, by hash-consing in topological order. Nodes with bodies, effects or randomness stay.
Result<bool> common_subexpressions(Graph& graph, Context& context);

/// clean: runs the rules of stage clean; fuse: of clean and fuse; combine (below): of clean, fuse and combine. All fold constants too.
Result<bool> clean(Graph& graph, Context& context);
Result<bool> fuse(Graph& graph, Context& context);
/// Runs the rules of stage trim alone. It comes before `combine`, which joins products of one operand: a reader of the joined product may
/// need all rows.
Result<bool> trim(Graph& graph, Context& context);
Result<bool> combine(Graph& graph, Context& context);
/// Padding removal: encoders under a mask of [sequences, length] compute only the rows that it does not hide and those that are gathered
/// from the result, concatenated (PackedRows, RaggedAttention). Nothing changes where hidden rows are read. After `trim` and `combine`,
/// whose rules match padded rows. Cost: linear in the nodes.
Result<bool> pack_rows(Graph& graph, Context& context);
/// Runs the rules of stage target alone, without folding: they rewrite the finished graph to the ops of the runtime that will run it.
Result<bool> target(Graph& graph, Context& context);

/// The results of a node as constants, where it can be folded, else nullopt: rewrite::Options::fold.
std::optional<std::vector<ir::ConstantRef>> fold_node(const Graph& graph, ir::NodeId node);

}  // namespace tenon::passes
