// SPDX-License-Identifier: Apache-2.0
// Every operator of the scalar language on zeros of both signs, NaN, infinities and the ends of the range: emitted code says what
// base/expr/apply.cpp says, which is what the interpreter runs.
#include <cmath>
#include <limits>

#include "tile_run.h"

namespace tenon::codegen {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};

std::vector<double> specials(DType d) {
  const double most = decode_float(d, encode_float(d, -kInfinity) - 1), least = decode_float(d, 1);
  return {0.0, -0.0, kInfinity, -kInfinity, std::nan(""), 1, -1, 0.5, -0.5, 1.5, -2.5, 3, most, -most, least, -least};
}

bool is_function(ExprOp op) { return (op >= ExprOp::exp && op <= ExprOp::erf) || op == ExprOp::pow; }
bool is_periodic(ExprOp op) { return op == ExprOp::sin || op == ExprOp::cos || op == ExprOp::tan; }
bool is_test(ExprOp op) { return op == ExprOp::is_nan || op == ExprOp::is_inf || (op >= ExprOp::equal && op <= ExprOp::less_equal); }

/// x and y: every pair of special values.
std::vector<Data> pairs(DType d, int lanes) {
  const std::vector<double> values = specials(d);
  const auto count = static_cast<int64_t>(values.size() * values.size());
  const int64_t padded = (count + lanes - 1) / lanes * lanes;
  std::vector<Data> data{Data(d, padded), Data(d, padded)};
  for (int64_t i = 0; i < count; ++i) {
    data[0].set(i, {values[static_cast<size_t>(i) / values.size()], 0});
    data[1].set(i, {values[static_cast<size_t>(i) % values.size()], 0});
  }
  return data;
}

template <class F>
void each_operator(DType d, F f) {
  for (int i = static_cast<int>(ExprOp::neg); i <= static_cast<int>(ExprOp::less_equal); ++i) {
    const auto op = static_cast<ExprOp>(i);
    if (op != ExprOp::cast && is_defined(op, d)) f(op);
  }
}

TEST(EmitSpecial, EveryOperatorEqualsTheInterpreter) {
  for (const Target& target : targets())
    for (DType d : kFloats)
      for (int lanes : {1, target.lanes()})
        each_operator(d, [&](ExprOp op) {
          std::vector<Data> data = pairs(d, lanes);
          const int64_t count = data[0].count;
          for (int64_t i = 0; i < count && is_periodic(op); ++i)
            if (std::fabs(data[0].get(i).number) > 0x1p40) data[0].set(i, {kInfinity, 0});  // beyond 2^49 emitted code gives NaN
          TileKernel k{.name = std::string(tenon::name_of(op))};
          TileBuilder b(k);
          const int32_t x = b.argument(d, false), y = b.argument(d, false), out = b.argument(is_test(op) ? DType::boolean : d, true);
          data.emplace_back(is_test(op) ? DType::boolean : d, count);
          b.loop(b.task_begin(), b.task_end(), b.integer(lanes), [&](Reg i) {
            std::vector<Reg> args{b.load(x, i, lanes)};
            if (operands_of(op) == 2) args.push_back(b.load(y, i, lanes));
            b.store(out, i, b.expr(op, args));
          });
          expect_same(k, target, data, {}, 0, count, !is_function(op) ? 0 : d == DType::f32 || d == DType::f64 ? 4 : 1);
        });
}

/// Constants take shorter ways.
TEST(EmitSpecial, MinAndMaxOfAConstantEqualTheInterpreter) {
  for (const Target& target : targets())
    for (DType d : kFloats)
      for (int lanes : {1, target.lanes()}) {
        std::vector<Data> data = pairs(d, lanes);
        const int64_t count = data[0].count;
        TileKernel k{.name = "extremes"};
        TileBuilder b(k);
        const int32_t x = b.argument(d, false);
        b.argument(d, false);
        std::vector<std::pair<ExprOp, Reg>> calls;
        b.loop(b.task_begin(), b.task_end(), b.integer(lanes), [&](Reg i) {
          const Reg v = b.load(x, i, lanes);
          for (double c : specials(d))
            for (ExprOp op : {ExprOp::min, ExprOp::max})
              for (bool first : {false, true}) {
                const Reg constant = b.splat(b.constant({d, 1}, c), lanes);
                data.emplace_back(d, count);
                b.store(b.argument(d, true), i, b.expr(op, first ? std::vector<Reg>{constant, v} : std::vector<Reg>{v, constant}));
              }
        });
        expect_same(k, target, data, {}, 0, count);
      }
}

TEST(EmitSpecial, ReductionsOfZerosDoNotDependOnTheirOrder) {
  for (const Target& target : targets())
    for (DType d : kFloats)
      for (int at = 0; at < 16; ++at) {
        TileKernel k{.name = "zeros"};
        TileBuilder b(k);
        const int32_t x = b.argument(d, false), out = b.argument(d, true);
        std::vector<Data> data{Data(d, 16), Data(d, 2)};
        for (int i = 0; i < 16; ++i) data[0].set(i, {i == at ? 0.0 : -0.0, 0});
        const Reg v = b.load(x, b.integer(0), 16);
        b.store(out, b.integer(0), b.reduce(v, ops::Combine::max));
        b.store(out, b.integer(1), b.reduce(v, ops::Combine::min));
        expect_same(k, target, data, {}, 0, 1);
        std::vector<Data> got = data;
        const BoundBuffer bound[] = {{got[0].bytes.data(), 16}, {got[1].bytes.data(), 2}};
        ASSERT_TRUE(interpret(k, bound, {}, 0, 1));
        EXPECT_FALSE(std::signbit(got[1].get(0).number));
        EXPECT_TRUE(std::signbit(got[1].get(1).number));
      }
}

}  // namespace
}  // namespace tenon::codegen
