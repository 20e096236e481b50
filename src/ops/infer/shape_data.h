// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ops/infer/types.h"

namespace tenon::ops {

/// Stores shape data of result `k`. Ignored where the list is longer than kMaxShapeData, and for dtypes other than i32, i64, u32, f32, f64
/// and bool.
void set_data(NodeView& view, size_t k, ShapeData data);
/// The sizes as numbers; nullopt where one is symbolic.
std::optional<Sizes> static_sizes(const DimList& dims);
/// Elements of an operand as sizes: those of its constant (integers, or floats that are whole), else its shape data; nullopt where they are
/// not known.
std::optional<ShapeData> known_elements(const NodeView& view, size_t input);
/// Elements of an integer operand as numbers; nullopt where they are not all known.
std::optional<Ints> known_ints(const NodeView& view, size_t input);
/// The only element of a constant float or integer operand.
std::optional<double> known_number(const NodeView& view, size_t input);
/// How many elements a rank-1 operand has, where known.
std::optional<int64_t> known_length(const NodeView& view, size_t input);
/// Copies shape data of operand 0 to result 0.
void pass_data(NodeView& view);
/// Shape data of an element-wise result: fn over broadcast elements of both operands. Does nothing where data are not known
/// or `fn` returns nullopt.
void propagate_data(NodeView& view, const std::function<std::optional<Dim>(Dim, Dim)>& fn);
void propagate_data(NodeView& view, const std::function<std::optional<Dim>(Dim)>& fn);
/// Sets shape data of a result 0 that consists of elements of operand 0: `source` gives the picked index from a result's index. Does
/// nothing where sizes or elements are not known.
void pick_data(NodeView& view, const std::function<std::vector<int64_t>(const std::vector<int64_t>& index)>& source);

}  // namespace tenon::ops
