// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/types.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_non_zero {

namespace {

/// True for strings that are not empty, and for numbers with a nonzero (real or imaginary) part.
bool is_non_zero(const Tensor& x, int64_t i) {
  if (x.dtype() == DType::string) return !x.strings()[static_cast<size_t>(i)].empty();
  if (is_complex(x.dtype())) return x.number(i) != 0 || imaginary(x, i) != 0;
  return is_float(x.dtype()) ? x.number(i) != 0 : x.integer(i) != 0;
}

}  // namespace

OP(non_zero) {
    .name = "NonZero",
    .since_version = 13,
    .inputs = {{"x"}},
    .keeps_elements = true,
    .infer = [](NodeView& view) -> Result<void> {
      const Dim rank = ranks_known(view, {0}) ? Dim(view.rank(0)) : view.symbols->fresh();
      set_output(view, 0, Type(DType::i64, {rank, view.symbols->fresh()}));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const Tensor& x = *call.in[0];
      std::vector<int64_t> hits;
      for (int64_t i = 0; i < x.count(); ++i) {
        if (is_non_zero(x, i)) hits.push_back(i);
      }
      const int64_t n = static_cast<int64_t>(hits.size());
      Tensor* out = TRY(call.make(0, {x.rank(), n}));
      for (int64_t k = 0; k < n; ++k) {
        const Sizes at = index_of(hits[static_cast<size_t>(k)], x.shape());
        for (int64_t d = 0; d < x.rank(); ++d) out->set_integer(d * n + k, at[static_cast<size_t>(d)]);
      }
      return {};
    },
    .first_opset = 9,
    .samples = {{"f32[2,3] = [0, 1, 0, nan, 0, -1]", "bool[4]", "i64[2,2] in 0..1", "f16[0]", "u8[]"}},
};

}  // namespace tenon::ops::op_non_zero
