// SPDX-License-Identifier: Apache-2.0
#include "codegen/tile/fingerprint.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace tenon::codegen {
namespace {

/// An instruction with others inside it, and a contraction.
TileKernel kernel() {
  TileKernel out{.name = "k", .buffers = {{}, {}}, .registers = {{DType::f32, 16}}, .body = {}};
  out.body = {{.op = TileOp::loop, .body = {{.op = TileOp::constant}}}, {.op = TileOp::contract}};
  return out;
}

TEST(Fingerprints, OfEqualKernelsAreEqual) { EXPECT_EQ(fingerprint_of(kernel()), fingerprint_of(kernel())); }

TEST(Fingerprints, OfKernelsThatDifferInAnyFieldDiffer) {
  const std::vector<std::function<void(TileKernel&)>> changes{
      [](TileKernel& k) { k.name = "l"; },
      [](TileKernel& k) { k.sizes = 1; },
      [](TileKernel& k) { k.registers[0].lanes = 8; },
      [](TileKernel& k) { k.registers[0].element = DType::i32; },
      [](TileKernel& k) { k.registers.push_back(k.registers[0]); },
      [](TileKernel& k) { k.buffers[0].kind = Buffer::Kind::scratch; },
      [](TileKernel& k) { k.buffers[0].dtype = DType::i8; },
      [](TileKernel& k) { k.buffers[1].dtype = DType::i8; },
      [](TileKernel& k) { k.buffers[0].scratch_count = 1; },
      [](TileKernel& k) { k.buffers[0].argument = 1; },
      [](TileKernel& k) { k.buffers[0].written = true; },
      [](TileKernel& k) { k.body[0].op = TileOp::branch; },
      [](TileKernel& k) { k.body[0].result = 0; },
      [](TileKernel& k) { k.body[0].type.lanes = 2; },
      [](TileKernel& k) { k.body[0].args = {0}; },
      [](TileKernel& k) { k.body[0].expr_op = ExprOp::mul; },
      [](TileKernel& k) { k.body[0].combine = ops::Combine::max; },
      [](TileKernel& k) { k.body[0].body[0].number = -0.0; },
      [](TileKernel& k) { k.body[0].body[0].number = 1; },
      [](TileKernel& k) { k.body[0].integer = 1; },
      [](TileKernel& k) { k.body[0].integer = -1; },
      [](TileKernel& k) { k.body[0].index = 1; },
      [](TileKernel& k) { k.body[0].buffer = 1; },
      [](TileKernel& k) { k.body[0].stride = 1; },
      [](TileKernel& k) { k.body[0].broadcast = true; },
      [](TileKernel& k) { k.body[0].words = true; },
      [](TileKernel& k) { k.body[0].offsets = 1; },
      [](TileKernel& k) { k.body[0].mask = 1; },
      [](TileKernel& k) { k.body[0].fill = 1; },
      [](TileKernel& k) { k.body[0].streaming = true; },
      [](TileKernel& k) { k.body[0].induction = 1; },
      [](TileKernel& k) { k.body[0].carried_in = {1}; },
      [](TileKernel& k) { k.body[0].carried = {1}; },
      [](TileKernel& k) { k.body[0].yields = {1}; },
      [](TileKernel& k) { k.body[0].otherwise_yields = {1}; },
      [](TileKernel& k) { k.body[0].results = {1}; },
      [](TileKernel& k) { k.body[0].otherwise = {{.op = TileOp::constant}}; },
      [](TileKernel& k) {
        std::swap(k.body[0].body, k.body[0].otherwise);
        k.body[0].otherwise.push_back({});
      },
      [](TileKernel& k) { k.body[0].unroll = 2; },
      [](TileKernel& k) { k.body[1].contract.rows = 2; },
      [](TileKernel& k) { k.body[1].contract.vectors = 2; },
      [](TileKernel& k) { k.body[1].contract.lanes = 2; },
      [](TileKernel& k) { k.body[1].contract.a = 1; },
      [](TileKernel& k) { k.body[1].contract.b = 1; },
      [](TileKernel& k) { k.body[1].contract.a_offset = 1; },
      [](TileKernel& k) { k.body[1].contract.a_row_stride = 1; },
      [](TileKernel& k) { k.body[1].contract.a_k_stride = 1; },
      [](TileKernel& k) { k.body[1].contract.rows_per_line = 1; },
      [](TileKernel& k) { k.body[1].contract.a_line_stride = 1; },
      [](TileKernel& k) { k.body[1].contract.b_offset = 1; },
      [](TileKernel& k) { k.body[1].contract.b_k_stride = 1; },
      [](TileKernel& k) { k.body[1].contract.depth = 1; },
      [](TileKernel& k) { k.body[1].contract.b_mask = 1; },
      [](TileKernel& k) { k.body[1].contract.scale = 1; },
      [](TileKernel& k) { k.body[1].contract.scale_offset = 1; },
      [](TileKernel& k) { k.body[1].contract.scale_k_stride = 1; },
      [](TileKernel& k) { k.body[1].contract.accumulator = DType::f64; },
      [](TileKernel& k) { k.body[1].contract.products = 2; },
      [](TileKernel& k) { k.body[1].contract.in_order = true; },
      [](TileKernel& k) { k.body[1].contract.prefetch_b_bytes = 1; },
      [](TileKernel& k) { k.body[1].contract.prefetch_from = 1; },
      [](TileKernel& k) { k.body[1].contract.accumulators_in = {1}; },
      [](TileKernel& k) { k.body[1].contract.accumulators_out = {1}; },
  };
  std::set<Hash128> found{fingerprint_of(kernel())};
  for (size_t k = 0; k < changes.size(); ++k) {
    TileKernel changed = kernel();
    changes[k](changed);
    EXPECT_TRUE(found.insert(fingerprint_of(changed)).second) << "change " << k;
  }
}

}  // namespace
}  // namespace tenon::codegen
