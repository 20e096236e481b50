// SPDX-License-Identifier: Apache-2.0
#include "tile_run.h"

namespace tenon::codegen {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,  DType::u8,     DType::i16,
                            DType::u16, DType::i32, DType::u32, DType::i64,  DType::u64, DType::boolean};
constexpr int64_t kCount = 192;

bool is_transcendental(ExprOp op) { return (op >= ExprOp::exp && op <= ExprOp::erf) || op == ExprOp::pow; }

/// Calls back with every operator that the dtype has.
template <class F>
void each_operator(DType d, F f) {
  for (int i = static_cast<int>(ExprOp::neg); i <= static_cast<int>(ExprOp::select); ++i) {
    const auto op = static_cast<ExprOp>(i);
    if (op != ExprOp::cast && is_defined(op, d)) f(op);
  }
}

/// One kernel with all operators of a dtype that `keep` names: each reads x, y (and a condition), and writes a buffer of its own.
TileKernel all_operators(DType d, int lanes, bool transcendental, std::vector<Data>& data) {
  TileKernel k{.name = "operators"};
  TileBuilder b(k);
  const int32_t x = b.argument(d, false), y = b.argument(d, false), c = b.argument(DType::boolean, false);
  data = {random_data(d, kCount, 1), random_data(d, kCount, 2), random_data(DType::boolean, kCount, 3)};
  std::vector<std::pair<ExprOp, int32_t>> outputs;
  each_operator(d, [&](ExprOp op) {
    if (is_transcendental(op) != transcendental || (op == ExprOp::pow && !is_arithmetic_float(d) && transcendental)) return;
    const bool test = op == ExprOp::is_nan || op == ExprOp::is_inf || (op >= ExprOp::equal && op <= ExprOp::less_equal);
    const DType result = test ? DType::boolean : d;
    outputs.emplace_back(op, b.argument(result, true));
    data.emplace_back(result, kCount);
  });
  b.loop(b.task_begin(), b.task_end(), b.integer(lanes), [&](Reg i) {
    const Reg vx = b.load(x, i, lanes), vy = b.load(y, i, lanes), vc = b.load(c, i, lanes);
    for (auto [op, out] : outputs) {
      std::vector<Reg> args{vx};
      if (operands_of(op) >= 2) args.push_back(vy);
      if (operands_of(op) == 3) args.insert(args.begin(), vc);
      b.store(out, i, b.expr(op, args));
    }
  });
  return k;
}

TEST(EmitExpr, ExactOperatorsEqualTheInterpreter) {
  for (const Target& target : targets())
    for (DType d : kTypes)
      for (int lanes : {1, target.lanes()}) {
        std::vector<Data> data;
        const TileKernel k = all_operators(d, lanes, false, data);
        expect_same(k, target, data, {}, 0, kCount);
      }
}

TEST(EmitExpr, FunctionsAreCloseToTheInterpreter) {
  for (const Target& target : targets())
    for (DType d : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      std::vector<Data> data;
      const TileKernel k = all_operators(d, target.lanes(), true, data);
      for (Data* in : {&data[0], &data[1]})
        for (int64_t i = 0; i < kCount; ++i)
          if (std::abs(in->get(i).number) > 1e10) in->set(i, {1.0, 0});
      expect_same(k, target, data, {}, 0, kCount, d == DType::f32 || d == DType::f64 ? 4 : 1);
    }
}

TEST(EmitExpr, CastsEqualTheInterpreter) {
  std::vector<DType> types(std::begin(kTypes), std::end(kTypes));
  types.push_back(DType::f8e4m3fn);
  for (const Target& target : targets())
    for (DType from : types)
      for (int lanes : {1, target.lanes(), 32}) {
        TileKernel k{.name = "casts"};
        TileBuilder b(k);
        const int32_t x = b.argument(from, false);
        std::vector<Data> data{random_data(from, kCount, 5)};
        for (DType to : types) b.argument(to, true), data.emplace_back(to, kCount);
        b.loop(b.task_begin(), b.task_end(), b.integer(lanes), [&](Reg i) {
          const Reg v = b.load(x, i, lanes);
          int32_t out = x;
          for (DType to : types) b.store(++out, i, b.expr(ExprOp::cast, {v}, to));
        });
        expect_same(k, target, data, {}, 0, kCount);
      }
}

TEST(EmitExpr, FmaAndReductionsEqualTheInterpreter) {
  using ops::Combine;
  for (const Target& target : targets())
    for (DType d : kTypes)
      for (int lanes : {1, 4, target.lanes(), 64}) {
        TileKernel k{.name = "reductions"};
        TileBuilder b(k);
        const int32_t x = b.argument(d, false), out = b.argument(d, true);
        std::vector<Data> data{random_data(d, kCount, 7), Data(d, kCount)};
        const Reg v = b.load(x, b.integer(0), lanes), w = b.load(x, b.integer(64), lanes);
        int64_t at = 0;
        const auto put = [&](Reg r) { b.store(out, b.integer(at++), r); };
        if (d == DType::boolean) {
          for (Combine c : {Combine::logical_and, Combine::logical_or, Combine::min, Combine::max}) put(b.reduce(v, c));
        } else {
          for (Combine c : {Combine::sum, Combine::product, Combine::min, Combine::max}) put(b.reduce(v, c));
          put(b.reduce(b.fma(v, w, v), Combine::max));
        }
        expect_same(k, target, data, {}, 0, 1);
      }
}

}  // namespace
}  // namespace tenon::codegen
