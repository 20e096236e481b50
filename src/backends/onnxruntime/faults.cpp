// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/faults.h"

#include "backend/faults.h"

namespace tenon::backends::onnxruntime {

namespace {

using View = ir::NodeView;

/// Of queries [batch, sequence, heads * size]; where keys and values are packed in, of all three. Where nobody knows it is feared.
bool has_odd_heads(const View& view) {
  if (view.rank(0) != 3) return false;
  const auto width = (*view.type(0).shape)[2].number();
  const int64_t heads = view.attributes->integer("num_heads", 1), shared = view.attributes->integer("kv_num_heads", 1);
  const int64_t all = view.has(1) ? heads : heads + 2 * shared;
  return !width || all <= 0 || *width / all % 8 != 0;
}

/// The mask has one row for all queries, or nobody knows that it has one for each.
bool shares_mask_rows(const View& view) {
  if (!view.has(3) || view.rank(3) < 2 || view.rank(0) < 3) return view.has(3) && !view.type(3).has_rank();
  const auto from_end = [&](size_t input, int back) { return (*view.type(input).shape)[static_cast<size_t>(view.rank(input) - back)]; };
  return from_end(3, 2) != from_end(0, 2);
}

constexpr backend::Fault kFaults[] = {
    {"", "Attention", shares_mask_rows, "a mask whose rows are shared by queries"},
    {"", "ConvInteger", [](const View& v) { return backend::may_be_many(v, 3); }, "a zero point for each channel of the weights"},
    {"", "MatMulInteger", [](const View& v) { return backend::may_be_many(v, 2); }, "a zero point for each row"},
    {"", "MaxUnpool", [](const View& v) { return v.has(2); }, "its places are counted otherwise where the size of the result is given"},
    {"", "NonZero", [](const View& v) { return v.rank(0) == 0; }, "a scalar's result is of another shape"},
    {"", "QLinearMatMul", [](const View& v) { return v.rank(3) != 2 && (backend::may_be_many(v, 4) || backend::may_be_many(v, 5)); },
     "a scale for each column of several matrices"},
    {"", "ScatterND", [](const View& v) { return v.type(0).dtype == DType::f16 && v.attributes->text("reduction", "none") != "none"; },
     "a reduction in f16"},
    {"", "Split", backend::splits_unknown_size, "a number of parts of a size that it does not know"},
    {"com.microsoft", "Attention", [](const View& v) { return v.has(5) && !v.has(2); },
     "an attention_bias without a bias, at which it crashes"},
    {"com.microsoft", "GroupQueryAttention", has_odd_heads, "heads whose size is no multiple of 8"},
};

}  // namespace

std::string_view fault_of(const View& view) { return backend::fault_of(kFaults, view); }

}  // namespace tenon::backends::onnxruntime
