// SPDX-License-Identifier: Apache-2.0
#include "tile_run.h"

namespace tenon::codegen {
namespace {

/// Element (i, j) of a square of x, which stands row by row, goes to (j, i) of out.
TileKernel square(DType d, int lanes) {
  TileKernel k{.name = "square"};
  TileBuilder b(k);
  const int32_t x = b.argument(d, false), out = b.argument(d, true);
  std::vector<Reg> rows;
  for (int i = 0; i < lanes; ++i) rows.push_back(b.load(x, b.integer(int64_t{i} * lanes), lanes));
  int64_t at = 0;
  for (Reg column : b.transpose(rows)) b.store(out, b.integer(lanes * at++), column);
  return k;
}

TEST(EmitTranspose, TurnsSquaresOfEverySize) {
  for (const Target& target : targets())
    for (DType d : {DType::f32, DType::f64, DType::bf16, DType::u8, DType::i64})
      for (int lanes : {2, 4, 8, 16, 32}) {
        const int64_t count = int64_t{lanes} * lanes;
        const Data x = random_data(d, count, 1);
        const TileKernel k = square(d, lanes);
        expect_same(k, target, {x, Data(d, count)}, {}, 0, 1);
      }
}

TEST(EmitTranspose, SwapsRowsAndColumns) {
  const TileKernel k = square(DType::i32, 4);
  std::vector<int32_t> x(16), out(16);
  for (int i = 0; i < 16; ++i) x[i] = i;
  const BoundBuffer buffers[] = {{reinterpret_cast<std::byte*>(x.data()), 16}, {reinterpret_cast<std::byte*>(out.data()), 16}};
  ASSERT_TRUE(interpret(k, buffers, {}, 0, 1));
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], i % 4 * 4 + i / 4);
}

TEST(EmitTranspose, IsOfSquaresOfNumbers) {
  for (const auto spoil : {+[](TileInstr& in) { in.args.pop_back(); }, +[](TileInstr& in) { in.results.pop_back(); },
                           +[](TileInstr& in) { in.args[1] = in.results[0]; }}) {
    TileKernel k = square(DType::f32, 4);
    for (TileInstr& in : k.body)
      if (in.op == TileOp::transpose) spoil(in);
    EXPECT_FALSE(verify(k));
  }
}

}  // namespace
}  // namespace tenon::codegen
