// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/cast/conversion.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_bit_cast {

OP(bit_cast) {
    .name = "BitCast",
    .since_version = 26,
    .inputs = {{"input"}},
    .attributes = {{"to: int!"}},
    .reads_bits = true,
    .infer = [](NodeView& view) -> Result<void> {
      const DType to = TRY(cast_target(view));
      const DType from = dtype_of(view, 0);
      if (from != DType::none && bits_of(from) != bits_of(to)) {
        return refuse(view, Code::dtype_mismatch, "both dtypes must have the same number of bits")
            .expected(std::to_string(bits_of(from)) + " bits")
            .found(std::string(name_of(to)));
      }
      TRY(infer_same_type(view));
      view.outputs[0].dtype = to;
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const Tensor& x = *call.in[0];
      call.out[0] = Tensor::view(call.view.outputs[0].dtype, x.shape(), x.data(), x.keeper());
      return {};
    },
    .first_opset = 26,
    .samples = {{"f32[2,3]; to=6", "i64[2]; to=11", "u8[3]; to=3", "i32[0]; to=1"}},
};

}  // namespace tenon::ops::op_bit_cast
