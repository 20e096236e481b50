// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/map.h"

namespace tenon::ops::op_string_concat {

namespace {
bool is_text(DType dtype) { return dtype == DType::string; }
}  // namespace

OP(string_concat) {
    .name = "StringConcat",
    .since = 20,
    .inputs = {"X", "Y"},
    .outputs = {"Z"},
    .infer = [](NodeView& view) { return infer_binary(view, is_text); },
    .reference = [](Call& call) -> Result<void> {
      const Tensor &a = *call.in[0], &b = *call.in[1];
      const Sizes shape = TRY(broadcast_sizes(call.view, a.shape(), b.shape()));
      const Sizes a_strides = broadcast_strides(a.shape(), shape), b_strides = broadcast_strides(b.shape(), shape);
      Tensor& y = *TRY(call.make(0, shape));
      for (int64_t i = 0; i < y.count(); ++i) {
        const Sizes at = index_of(i, shape);
        y.mutable_strings()[static_cast<size_t>(i)] =
            a.strings()[static_cast<size_t>(offset_of(at, a_strides))] + b.strings()[static_cast<size_t>(offset_of(at, b_strides))];
      }
      return {};
    },
    .first = 20,
};

}  // namespace tenon::ops::op_string_concat
