// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/types.h"

#include <algorithm>

namespace tenon::ops {

bool is_number(DType dtype) { return is_arithmetic_float(dtype) || is_integer(dtype); }

bool is_signed_number(DType dtype) { return is_number(dtype) && is_signed(dtype); }

bool is_bool(DType dtype) { return dtype == DType::boolean; }

bool is_number_or_bool(DType dtype) { return is_number(dtype) || dtype == DType::boolean; }

bool is_index(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

void set_output(NodeView& view, size_t k, Type type) {
  if (k < view.outputs.size()) view.outputs[k] = std::move(type);
}

bool ranks_known(const NodeView& view, std::initializer_list<size_t> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](size_t i) { return view.has(i) && view.type(i).has_rank(); });
}

DType dtype_of(const NodeView& view, size_t input) { return view.has(input) ? view.type(input).dtype : DType::none; }

}  // namespace tenon::ops
