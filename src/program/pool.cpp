// SPDX-License-Identifier: Apache-2.0
#include "program/pool.h"

#include "base/checked.h"
#include "codegen/tile/fingerprint.h"

namespace tenon::program {

uint32_t Pool::code(codegen::TileKernel kernel, std::string tactic) {
  const auto [found, is_new] = code_.try_emplace(codegen::fingerprint_of(kernel), static_cast<uint32_t>(out_.kernels.size()));
  if (is_new) {
    out_.kernels.push_back(std::move(kernel));
    out_.tactics.push_back(std::move(tactic));
  }
  return found->second;
}

namespace {

/// Whether equal copies of the constant are searched for in any case. For smaller ones the comparison costs more than it saves: ir::same
/// computes them where they are expressions.
bool is_large(const ir::Constant& constant) { return constant.byte_size() > int64_t{1} << 16; }

}  // namespace

size_t Pool::number_of(const ir::ConstantRef& constant) {
  const auto [found, is_new] = numbers_.try_emplace(constant.get(), out_.weights.size());
  if (!is_new) return found->second;
  if (shares_equal_ || is_large(*constant)) {
    std::vector<size_t>& candidates = placed_[{constant->dtype, constant->shape}];
    for (const size_t other : candidates)
      if (ir::same(*constant, *out_.weights[other].constant)) return found->second = other;
    if (is_large(*constant)) candidates.push_back(out_.weights.size());
  }
  out_.weights.push_back({constant, weight_bytes_, true});
  const int64_t end = static_cast<int64_t>(weight_bytes_) + constant->byte_size() + static_cast<int64_t>(runtime::kSlack);
  weight_bytes_ = static_cast<uint64_t>(round_up(end, 64));
  return found->second;
}

uint64_t Pool::place(const ir::ConstantRef& constant, bool is_lookup_table) {
  PlacedConstant& placed = out_.weights[number_of(constant)];
  placed.is_lookup_table = placed.is_lookup_table && is_lookup_table;
  return placed.offset;
}

void Pool::share_equal_weights() {
  shares_equal_ = true;
  for (size_t w = 0; w < out_.weights.size(); ++w) {
    const ir::Constant& constant = *out_.weights[w].constant;
    if (!is_large(constant)) placed_[{constant.dtype, constant.shape}].push_back(w);
  }
}

}  // namespace tenon::program
