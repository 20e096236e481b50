// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.h"

namespace tenon::passes {

/// Erases nodes whose results nobody uses and constants without users. Keeps nodes with effects and graph inputs.
Result<bool> dead_code(Graph& graph, Context& context);

/// Nodes whose operands are all constant: results of 64 KB and less are computed by the reference at once; larger ones become a lazy
/// constant where slice, permute, reshape, concat, cast or scale expresses them, else they stay. No weight is read or copied.
Result<bool> fold_constants(Graph& graph, Context& context);

/// A body holds the constants that it uses itself instead of capturing them: rules see them there, and a kernel can pack them.
Result<bool> sink_constants(Graph& graph, Context& context);

/// Results whose elements are all known numbers (Shape of a static axis, and what follows) become constants.
Result<bool> shape_arithmetic(Graph& graph, Context& context);

/// Equal constants, then equal nodes, by hash-consing in topological order. Nodes with bodies, effects or randomness stay.
Result<bool> common_subexpressions(Graph& graph, Context& context);

/// The rules of stage clean; of clean and fuse; of clean, fuse and combine. Each with constant folding on the way.
Result<bool> clean(Graph& graph, Context& context);
Result<bool> fuse(Graph& graph, Context& context);
/// The rules of stage trim alone: after `fuse`, and before `combine` joins products of one operand, of which a reader may need all rows.
Result<bool> trim(Graph& graph, Context& context);
Result<bool> combine(Graph& graph, Context& context);
/// Padding removal: encoders under a mask of [sequences, length] compute only the rows that it does not hide and those that are gathered
/// from the result, concatenated (PackedRows, RaggedAttention). Nothing changes where hidden rows are read. After `trim` and `combine`,
/// whose rules match padded rows. Cost: linear in the nodes.
Result<bool> pack_rows(Graph& graph, Context& context);
/// The rules of stage target, alone and without folding: the finished graph in the ops of the runtime that will run it.
Result<bool> target(Graph& graph, Context& context);

/// The results of a node as constants, where it can be folded, else nullopt: rewrite::Options::fold.
std::optional<std::vector<ir::ConstantRef>> fold_node(const Graph& graph, ir::NodeId node);

}  // namespace tenon::passes
