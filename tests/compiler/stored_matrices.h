// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/blocks/block_format.h"
#include "nn/weights.h"

namespace tenon::compiler {

/// The matrices of a decoder in blocks or in a narrow type (F16, BF16), or what these decode to.
class StoredMatrices : public nn::Weights {
 public:
  StoredMatrices(const nn::Weights& of, std::string_view format, bool decoded)
      : of_(of), format_(*block_format_named(format)), decoded_(decoded) {}
  std::vector<std::string> names() const override { return of_.names(); }
  std::optional<Sizes> shape_of(std::string_view name) const override { return of_.shape_of(name); }
  ir::ConstantRef constant(std::string_view name) const override {
    const ir::ConstantRef plain = of_.constant(name);
    if (plain->shape.size() != 2 || plain->shape[1] % format_.elements != 0) return plain;
    if (format_.elements == 1) return narrow(*plain);
    const auto bytes = block_bytes(format_, static_cast<uint64_t>(plain->count()));
    Tensor codes = *Tensor::make(DType::u8, {static_cast<int64_t>(*bytes)});
    EXPECT_TRUE(quantize(format_, plain->tensor()->as<float>(), {codes.mutable_data(), *bytes}));
    const ir::ConstantRef in_blocks = ir::decode_blocks(std::move(codes), format_, plain->shape);
    return decoded_ ? ir::constant_of(*ir::materialise(*in_blocks)) : in_blocks;
  }

 private:
  ir::ConstantRef narrow(const ir::Constant& plain) const {
    const DType dtype = format_.name == "F16" ? DType::f16 : DType::bf16;
    const ir::ConstantRef stored = ir::constant_of(*ir::materialise(*ir::cast(ir::constant_of(*plain.tensor()), dtype)));
    const ir::ConstantRef wide = ir::cast(stored, DType::f32);
    return decoded_ ? ir::constant_of(*ir::materialise(*wide)) : wide;
  }

  const nn::Weights& of_;
  const BlockFormat& format_;
  bool decoded_;
};

}  // namespace tenon::compiler
