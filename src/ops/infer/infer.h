// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

using ir::Ints;
using ir::ShapeData;
using ir::Type;

// --- refusing ------------------------------------------------------------------------------------------------------
/// An error at the node: `refuse(view, Code::shape_mismatch, "inner sizes differ").expected(...)`. The text starts with the op's name.
Error refuse(const NodeView& view, Code code, std::string what);
/// The operand's rank lies in [low, high] (high -1: no limit), or is unknown. Errors: rank_mismatch.
Result<void> require_rank(const NodeView& view, size_t input, int low, int high);
inline Result<void> require_rank(const NodeView& view, size_t input, int rank) { return require_rank(view, input, rank, rank); }
/// The operand is missing, of unknown dtype, or `accepted` says yes. `wanted`: "a float type". Errors: dtype_mismatch.
Result<void> require_dtype(const NodeView& view, size_t input, bool (*accepted)(DType), std::string_view wanted);
/// Both operands are present and of one dtype, or one is unknown. Errors: dtype_mismatch.
Result<void> require_same_dtype(const NodeView& view, size_t a, size_t b);
/// Two sizes are equal; where that cannot be decided yet, it is assumed and checked when they are known. `what`: "inner sizes of A and B".
/// Errors: shape_mismatch, naming both.
Result<void> require_equal(const NodeView& view, Dim a, Dim b, std::string_view what);
/// The same, axis by axis from axis `first` on; the ranks are equal.
Result<void> require_equal(const NodeView& view, const DimList& a, const DimList& b, std::string_view what);
/// `a` is not smaller than `b`; assumed where that cannot be decided yet. `what`: "the padded input is smaller than its window".
/// Errors: shape_mismatch, naming both.
Result<void> require_at_least(const NodeView& view, Dim a, Dim b, std::string_view what);
/// Where one operand is spread over the other's axis: `from` is `to` or 1. Errors: shape_mismatch, naming both.
Result<void> require_spreads(const NodeView& view, Dim from, Dim to, std::string_view what);
/// The same for whole shapes, aligned at the right. Errors: rank_mismatch (`from` has more axes), shape_mismatch.
Result<void> require_spreads(const NodeView& view, const DimList& from, const DimList& to, std::string_view what);
bool is_number(DType dtype);  ///< float arithmetic types and integers
bool is_signed_number(DType dtype);
bool is_bool(DType dtype);
bool is_index(DType dtype);       ///< i32, i64
bool is_comparable(DType dtype);  ///< numbers and bool

// --- results -------------------------------------------------------------------------------------------------------
/// Stores the type of result `k`; ignored where the node has fewer results.
void set_output(NodeView& view, size_t k, Type type);
/// Stores shape data of result `k`; ignored where it is longer than kMaxShapeData or the dtype is too small to hold sizes
/// (i32, i64, u32, f32, f64 and bool are not).
void set_data(NodeView& view, size_t k, ShapeData data);
/// Every named operand is present and has a known rank.
bool ranks_known(const NodeView& view, std::initializer_list<size_t> inputs);
/// The operand's dtype; none where it is missing or not known.
DType dtype_of(const NodeView& view, size_t input);

// --- axes ----------------------------------------------------------------------------------------------------------
/// -rank..rank-1 to 0..rank-1. Errors: axis_out_of_range.
Result<int> normal_axis(const NodeView& view, int64_t axis, int rank);
/// The same for many; sorted where asked. Errors: axis_out_of_range, bad_attribute (a repeated axis).
Result<std::vector<int>> normal_axes(const NodeView& view, const Ints& axes, int rank, bool sorted = true);

// --- shapes --------------------------------------------------------------------------------------------------------
/// numpy broadcasting of one pair of sizes: 1 gives the other; a number other than 1 beats a symbol; two symbols that
/// may differ give their max (each is then 1 or that), or 0 where one of them is. nullopt where it cannot be.
std::optional<Dim> broadcast(Dim a, Dim b);
/// Axis by axis from the right; what cannot be decided is assumed. Errors: shape_mismatch.
Result<DimList> broadcast(const NodeView& view, const DimList& a, const DimList& b);
/// Over all given operands (missing ones are skipped); nullopt where a rank is unknown.
Result<std::optional<DimList>> broadcast_inputs(const NodeView& view, size_t first, size_t count);
/// Sizes as an int64 list where all are numbers.
std::optional<Sizes> numbers_of(const DimList& dims);
/// Elements of an integer operand as sizes: its constant, else its shape data.
std::optional<ShapeData> elements(const NodeView& view, size_t input);
/// Elements of an integer operand as numbers; nullopt where they are not all known.
std::optional<Ints> known_ints(const NodeView& view, size_t input);
/// The only element of a constant float or integer operand.
std::optional<double> known_number(const NodeView& view, size_t input);
/// How many elements a rank-1 operand has, where known.
std::optional<int64_t> known_length(const NodeView& view, size_t input);

// --- inference of whole families -------------------------------------------------------------------------------------
Result<void> same_shape_and_dtype(NodeView& view);  ///< any dtype; shape data pass through only for Identity-like ops: see pass_data
Result<void> infer_float_unary(NodeView& view);     ///< float arithmetic types only
Result<void> infer_number_unary(NodeView& view);
Result<void> infer_signed_unary(NodeView& view);
Result<void> infer_predicate(NodeView& view);  ///< float to bool
/// Two operands, broadcast, one numeric dtype.
Result<void> infer_binary(NodeView& view, bool (*accepted)(DType) = is_number);
/// Two operands to bool.
Result<void> infer_comparison(NodeView& view, bool (*accepted)(DType) = is_number);
/// Any number of operands, broadcast, one dtype.
Result<void> infer_variadic(NodeView& view, bool (*accepted)(DType) = is_number);
/// Copies shape data of operand 0 to result 0.
void pass_data(NodeView& view);
/// Shape data of an element-wise result: fn over broadcast elements of both operands. Does nothing where data are not known
/// or `fn` answers nullopt.
void propagate(NodeView& view, const std::function<std::optional<Dim>(Dim, Dim)>& fn);
void propagate(NodeView& view, const std::function<std::optional<Dim>(Dim)>& fn);
/// Shape data of result 0 that picks elements of operand 0: `source` gives the picked index from a result's index. Does nothing
/// where sizes or elements are not known.
void pick_data(NodeView& view, const std::function<std::vector<int64_t>(const std::vector<int64_t>& index)>& source);
/// Elements of an operand, broadcast to `to`; nullopt where they or the operand's sizes are not known, or are too many.
std::optional<ShapeData> broadcast_elements(const NodeView& view, size_t input, const DimList& to);

// --- windows -------------------------------------------------------------------------------------------------------
/// Sliding windows of Conv and of the poolings, resolved for `spatial` axes.
struct Windows {
  Ints kernel, strides, dilations;
  DimList begin, end;  ///< padding
  bool ceil_mode = false;
};
/// Reads kernel_shape (or `kernel`), strides, dilations, pads, auto_pad, ceil_mode; `sizes`: spatial sizes of the operand.
/// SAME_* paddings are computed from the sizes (symbolically where they are). Errors: bad_attribute.
Result<Windows> windows_of(const NodeView& view, const DimList& sizes, std::optional<Ints> kernel = {});
/// Output sizes of the windows over `sizes`. Errors: shape_mismatch where a window is larger than the padded input.
Result<DimList> window_outputs(const NodeView& view, const Windows& windows, const DimList& sizes);

// --- versions ------------------------------------------------------------------------------------------------------
/// Moves attribute `name` (an int, ints, float or tensor) to operand `slot` as a constant, filling skipped slots with none.
/// Does nothing where the attribute is missing.
Result<void> attribute_to_operand(ir::Graph& graph, ir::NodeId node, std::string_view name, uint32_t slot, DType dtype = DType::i64);
/// Sets operand `slot`, extending the operand list with missing operands where it is shorter.
void put_operand(ir::Graph& graph, ir::NodeId node, uint32_t slot, ir::ValueId value);
/// Moves constant operand `slot` to attribute `name` as ints (scalar: as one int). Errors: not_supported where it is not constant.
Result<void> operand_to_attribute(ir::Graph& graph, ir::NodeId node, uint32_t slot, std::string_view name, bool scalar = false);
/// Sets an attribute where it is missing (an older version had another default).
void default_attribute(ir::Graph& graph, ir::NodeId node, std::string_view name, ir::Attribute value);

}  // namespace tenon::ops
