// SPDX-License-Identifier: Apache-2.0
#include "program/pool.h"

#include "base/checked.h"

namespace tenon::program {

uint32_t Pool::code(codegen::TileKernel kernel, std::string tactic) {
  const auto [found, fresh] = code_.try_emplace(codegen::text_of(kernel), static_cast<uint32_t>(out_.kernels.size()));
  if (fresh) {
    out_.kernels.push_back(std::move(kernel));
    out_.tactics.push_back(std::move(tactic));
  }
  return found->second;
}

uint64_t Pool::place(const ir::ConstantRef& constant) {
  const auto [found, fresh] = places_.try_emplace(constant.get(), weight_bytes_);
  if (!fresh) return found->second;
  if (shares_equal_)
    for (const auto& [other, offset] : placed_[{constant->dtype, constant->shape}])
      if (ir::same(*constant, *other)) return found->second = offset;
  out_.weights.push_back({constant, weight_bytes_});
  const int64_t end = static_cast<int64_t>(weight_bytes_) + constant->byte_size() + static_cast<int64_t>(runtime::kSlack);
  weight_bytes_ = static_cast<uint64_t>(round_up(end, 64));
  return found->second;
}

void Pool::share_equal_weights() {
  shares_equal_ = true;
  for (const PlacedConstant& w : out_.weights) placed_[{w.constant->dtype, w.constant->shape}].emplace_back(w.constant, w.offset);
}

}  // namespace tenon::program
