// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "codegen/cost/tactic.h"
#include "tile_run.h"

namespace tenon::codegen {
namespace {

struct Types {
  DType a, b, accumulator;
  int products = 1;
};

/// Small numbers, so that integer and narrow types have something to add up.
Data small_numbers(DType d, int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Data data(d, count);
  for (int64_t i = 0; i < count; ++i) data.set(i, {static_cast<double>(random() % 2001) / 1000 - 1, static_cast<int64_t>(random() % 13)});
  return data;
}

using Numbers = Data (*)(DType dtype, int64_t count, uint32_t seed);

void check(const Target& target, Tile tile, Types t, bool k_major, bool start, bool masked, Numbers numbers = small_numbers, int line = 0,
           int scale_step = 0) {
  const int lanes = t.accumulator == DType::f64 ? target.lanes() / 2 : target.lanes();
  TileKernel k{.name = "contract"};
  TileBuilder b(k);
  const int32_t a = b.argument(t.a, false), w = b.argument(t.b, false), out = b.argument(t.accumulator, true);
  const int32_t scale = scale_step > 0 ? b.argument(t.accumulator, false) : -1;
  const Reg depth = b.size(0), stride = b.size(1);
  const int width = tile.vectors * lanes, panel = width * t.products;
  b.loop(b.task_begin(), b.task_end(), b.integer(1), [&](Reg task) {
    Contract c{.rows = tile.rows,
               .vectors = tile.vectors,
               .lanes = lanes,
               .a = a,
               .b = w,
               .a_offset = task,
               .depth = depth,
               .accumulator = t.accumulator,
               .products = t.products,
               .prefetch_b_bytes = 512};
    c.a_row_stride = k_major ? b.integer(t.products) : stride;
    if (line > 0) c.rows_per_line = line, c.a_line_stride = b.integer(29);
    c.scale = scale;
    if (scale_step > 1) c.scale_k_stride = b.integer(scale_step), c.scale_offset = task;
    c.a_k_stride = k_major ? b.integer(tile.rows * t.products) : kNone;
    if (start) c.prefetch_from = b.integer(1 << 20);  // a hint: nothing needs to be there
    if (masked) c.b_mask = b.first_mask(b.integer(lanes - 3), lanes);
    if (start) c.b_k_stride = b.integer(panel), c.b_offset = b.integer(0);
    const Reg base = b.mul(task, b.integer(tile.rows * width));
    for (int i = 0; start && i < tile.rows * tile.vectors; ++i)
      c.accumulators_in.push_back(i == 1 ? kNone : b.load(out, b.add(base, b.integer(i * lanes)), lanes));
    const auto acc = b.contract(c);
    for (int i = 0; i < tile.rows * tile.vectors; ++i) b.store(out, b.add(base, b.integer(i * lanes)), acc[i]);
  });
  for (int64_t d : {0, 1, 6, 8}) {
    const int64_t sizes[] = {d, 11};
    std::vector<Data> data{numbers(t.a, 400 * t.products, 1), numbers(t.b, 8 * panel, 2),
                           numbers(t.accumulator, int64_t{2} * tile.rows * width, 3)};
    if (scale >= 0) data.push_back(numbers(t.accumulator, 9 * scale_step, 4));
    expect_same(k, target, std::move(data), sizes, 0, 2);
  }
}

Tile default_tile(GroupKind kind, const Target& target) {
  Group group;
  group.set_kind(kind);
  const Tactic tactic = default_tactic(group, target);
  return kind == GroupKind::contract ? std::get<ContractTactic>(tactic).tile : std::get<AttentionTactic>(tactic).tile;
}

/// Those of the lowerings, what is left of them at the last rows, and shapes that none of them uses.
std::vector<Tile> tiles_for(const Target& target) {
  const Tile contract = default_tile(GroupKind::contract, target);
  std::vector<Tile> out = {contract, default_tile(GroupKind::attention, target), {4, 3}, {2, 4}, {1, 8}, {1, 1}};
  for (int rows = 1; rows < contract.rows; rows *= 2) out.push_back({rows, contract.vectors});
  return out;
}

TEST(EmitContract, EveryTileEqualsTheInterpreter) {
  for (const Target& target : targets())
    for (Tile tile : tiles_for(target)) {
      check(target, tile, {DType::f32, DType::f32, DType::f32}, false, true, false);
      check(target, tile, {DType::f32, DType::f32, DType::f32}, true, false, true);
    }
}

/// Rows that stand in several lines, whichever way round fewer pointers reach them.
TEST(EmitContract, LinesOfRowsEqualTheInterpreter) {
  for (const Target& target : targets())
    for (const auto& [tile, line] : {std::pair(Tile{14, 2}, 7), {Tile{6, 2}, 3}, {Tile{6, 2}, 2}, {Tile{24, 1}, 2}, {Tile{21, 1}, 7}})
      check(target, tile, {DType::f32, DType::f32, DType::f32}, false, true, false, small_numbers, line);
}

TEST(EmitContract, ScaledPanelsEqualTheInterpreter) {
  for (const Target& target : targets())
    for (const Tile tile : tiles_for(target)) {
      check(target, tile, {DType::f32, DType::f32, DType::f32}, false, true, true, small_numbers, 0, 1);
      check(target, tile, {DType::f16, DType::f32, DType::f32}, false, false, false, small_numbers, 0, 3);
    }
}

TEST(EmitContract, OperandTypesWiden) {
  for (const Target& target : targets())
    for (Types t :
         {Types{DType::f64, DType::f64, DType::f64}, Types{DType::f16, DType::f16, DType::f32}, Types{DType::f32, DType::bf16, DType::f32},
          Types{DType::u8, DType::i8, DType::i32}, Types{DType::i64, DType::i64, DType::i64}})
      check(target, {3, 2}, t, false, true, t.a == DType::f64);
}

/// bf16 with infinities, NaN and denormals among the numbers; bytes over all of their range.
TEST(EmitContract, GroupsOfProductsEqualTheInterpreter) {
  constexpr Types kForms[] = {{DType::bf16, DType::bf16, DType::f32, 2}, {DType::u8, DType::i8, DType::i32, 4}};
  for (const Target& target : targets())
    for (const Types& t : kForms) {
      if (!target.multiply_add(t.a, t.b, t.accumulator)) continue;
      for (Tile tile : tiles_for(target)) {
        check(target, tile, t, false, true, false);
        check(target, tile, t, false, true, true, random_data);
        check(target, tile, t, true, false, false, random_data);
      }
    }
}

TileKernel pair_kernel(DType a, DType b, DType sum, int products) {
  TileKernel k{.name = "pairs"};
  TileBuilder build(k);
  const int32_t x = build.argument(a, false), w = build.argument(b, false), out = build.argument(sum, true);
  const Reg zero = build.integer(0);
  build.store(out, zero, build.contract({.a = x, .b = w, .depth = build.size(0), .accumulator = sum, .products = products})[0]);
  return k;
}

TEST(EmitContract, CodeNeedsNoMoreOfACpuThanItsTypes) {
  const auto least = [](DType a, DType b, DType sum) {
    const TileKernel k[] = {pair_kernel(DType::f32, DType::f32, DType::f32, 1), pair_kernel(a, b, sum, 1)};
    return least_target(k, **target_named("x86_avx512_bf16")).name;
  };
  EXPECT_EQ(least(DType::f64, DType::f64, DType::f64), "x86_avx512");
  EXPECT_EQ(least(DType::u8, DType::i8, DType::i32), "x86_avx512_vnni");
  EXPECT_EQ(least(DType::bf16, DType::bf16, DType::f32), "x86_avx512_bf16");
  EXPECT_EQ(least_target({}, **target_named("x86_avx2")).name, "x86_avx2");
}

TEST(EmitContract, RefusesGroupsThatNoInstructionTakes) {
  const TileKernel pairs = pair_kernel(DType::bf16, DType::bf16, DType::f32, 2);
  EXPECT_NE(text_of(pairs).find("products=2"), std::string::npos) << text_of(pairs);
  const auto refused = emit(std::span(&pairs, 1), **target_named("x86_avx512_vnni"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("bf16 x bf16"), std::string::npos) << refused.error().text();
  EXPECT_TRUE(emit(std::span(&pairs, 1), **target_named("x86_avx512_bf16")));
  for (const auto& [a, b, sum, products] : {Types{DType::f32, DType::f32, DType::f32, 2},
                                            {DType::bf16, DType::bf16, DType::f32, 4},
                                            {DType::i8, DType::u8, DType::i32, 4},
                                            {DType::u8, DType::i8, DType::f32, 4}})
    EXPECT_FALSE(verify(pair_kernel(a, b, sum, products))) << name_of(a) << " x " << name_of(b) << " " << products;
}

TEST(EmitContract, TilesFitTheRegisters) {
  for (const Target* each : all_targets()) {
    const Target& target = *each;
    for (GroupKind kind : {GroupKind::contract, GroupKind::attention}) {
      const Tile t = default_tile(kind, target);
      EXPECT_LE(t.rows * t.vectors + t.vectors + 1, target.registers);
    }
  }
}

}  // namespace
}  // namespace tenon::codegen
