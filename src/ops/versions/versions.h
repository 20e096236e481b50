// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ops/infer/infer.h"

namespace tenon::ops {

/// Builds the results of a node from its operands; the builder holds the first error.
using Writing = std::function<std::vector<ir::ValueId>(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in)>;
/// Puts what `writing` makes in place of the node, which is erased; its names go over.
/// Errors: not_supported where a result that somebody uses is left out.
Result<void> write_as(ir::Graph& graph, ir::NodeId node, const Writing& writing);

/// The dtype in which a definition computes: f32 for the short floats, so that each step does not round.
inline DType definition_dtype(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }
/// Cast where the dtypes differ.
ir::ValueId as_dtype(ir::Builder& build, ir::ValueId x, DType from, DType to);
/// A definition of an element-wise op with one float operand: `body` computes in definition_dtype.
std::vector<ir::ValueId> define_float_map(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in,
                                          const std::function<ir::ValueId(ir::ValueId x, DType dtype)>& body);

/// Squeeze and Unsqueeze: before opset 13 their axes (operand 1) were an attribute.
Result<void> axes_downgrade(ir::Graph& graph, ir::NodeId node, int opset);

/// For an op that once knew no short floats: they are cast to f32 (operand 0), and the result back where it is a float.
Result<void> through_f32(ir::Graph& graph, ir::NodeId node, int opset);

/// Does nothing where the attribute is missing.
void rename_attribute(ir::Graph& graph, ir::NodeId node, std::string_view from, std::string_view to);

/// Arithmetic, comparisons and logic before opset 7: the operands had one shape, or the attribute `broadcast` said that the second one's
/// sizes are those of the first one's axes from `axis` on (without `axis`: the last ones).
/// Errors: not_supported where a rank is needed and not known, shape_mismatch.
Result<void> broadcast_upgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// LSTM, GRU and RNN before opset 7: `output_sequence` said whether result 0 is needed, which its absence says too.
Result<void> recurrent_upgrade(ir::Graph& graph, ir::NodeId node, int opset);
/// LpPool and GlobalLpPool before opset 2: `p` was a float. Errors: not_supported where it is no whole number.
Result<void> whole_p_upgrade(ir::Graph& graph, ir::NodeId node, int opset);

/// Lowest opsets of ops whose versions differ in dtypes alone. The first 13 opsets know no bf16 at all (export sees to that).
inline bool is_short_integer(DType d) { return d == DType::i8 || d == DType::u8 || d == DType::i16 || d == DType::u16; }
/// bf16 came with opset `since`.
template <int since>
int bf16_from(const NodeView& view) {
  return dtype_of(view, 0) == DType::bf16 ? since : 7;
}
/// Integers came with opset `since`.
template <int since>
int integers_from(const NodeView& view) {
  return is_integer(dtype_of(view, 0)) ? since : 7;
}
inline int lowest_opset_of_arithmetic(const NodeView& view) { return is_short_integer(dtype_of(view, 0)) ? 14 : 7; }

}  // namespace tenon::ops
