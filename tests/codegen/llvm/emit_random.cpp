// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "tile_run.h"

namespace tenon::codegen {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8, DType::boolean, DType::f16};
constexpr int64_t kCount = 128;

/// Grows a kernel of random operators, loops and branches over one lane count; buffer t holds dtype kTypes[t], buffer 7 + t its results.
class Grower {
 public:
  Grower(TileKernel& kernel, int lanes, uint32_t seed) : b_(kernel), lanes_(lanes), random_(seed) {
    for (DType d : kTypes) b_.argument(d, false);
    for (DType d : kTypes) b_.argument(d, true);
  }

  void kernel() {
    b_.loop(b_.task_begin(), b_.task_end(), b_.integer(lanes_), [&](Reg at) {
      at_ = at;
      for (size_t t = 0; t < std::size(kTypes); ++t) pool_.push_back(b_.load(static_cast<int32_t>(t), at, lanes_));
      grow(3, 14);
      for (size_t t = 0; t < std::size(kTypes); ++t) b_.store(static_cast<int32_t>(std::size(kTypes) + t), at, pick(kTypes[t]));
    });
  }

 private:
  uint32_t below(size_t n) { return static_cast<uint32_t>(random_() % n); }

  Reg pick(DType d) {
    std::vector<Reg> fit;
    for (Reg r : pool_)
      if (b_.type(r).element == d) fit.push_back(r);
    return fit[below(fit.size())];
  }

  void grow(int depth, int steps) {
    for (int i = 0; i < steps; ++i) {
      const uint32_t kind = below(12);
      if (kind == 0 && depth > 0) loop(depth);
      else if (kind == 1 && depth > 0) branch(depth);
      else if (kind == 2) pool_.push_back(b_.expr(ExprOp::cast, {pick(kTypes[below(7)])}, kTypes[below(7)]));
      else if (kind == 3) memory();
      else if (kind == 4) lanes();
      else operation();
    }
  }

  void operation() {
    const DType d = kTypes[below(7)];
    const auto op = static_cast<ExprOp>(static_cast<uint32_t>(ExprOp::neg) +
                                        below(static_cast<size_t>(ExprOp::select) - static_cast<size_t>(ExprOp::neg) + 1));
    const bool inexact = op >= ExprOp::exp && op <= ExprOp::erf;
    if (op == ExprOp::cast || inexact || op == ExprOp::pow || op == ExprOp::mod || op == ExprOp::rem || !is_defined(op, d)) return;
    std::vector<Reg> args;
    for (int i = 0; i < operands_of(op); ++i) args.push_back(pick(d));
    if (op == ExprOp::select) args[0] = pick(DType::boolean);
    pool_.push_back(b_.expr(op, args));
  }

  void memory() {
    const size_t t = below(7);
    const Reg mask = pick(DType::boolean), fill = pick(kTypes[t]);
    const auto buffer = static_cast<int32_t>(t);
    pool_.push_back(below(2) ? b_.load(buffer, at_, lanes_, {.mask = mask, .fill = fill})
                             : b_.load(buffer, b_.integer(below(20)), lanes_, {.stride = b_.integer(1 + below(3))}));
    b_.store(static_cast<int32_t>(std::size(kTypes) + t), at_, pick(kTypes[t]), {.mask = pick(DType::boolean)});
  }

  void lanes() {
    const DType d = kTypes[below(6)];
    if (d == DType::boolean) {
      pool_.push_back(b_.splat(b_.reduce(pick(d), ops::Combine::logical_or), lanes_));
      return;
    }
    pool_.push_back(b_.fma(pick(d), pick(d), pick(d)));
    pool_.push_back(b_.splat(b_.reduce(pick(d), below(2) ? ops::Combine::sum : ops::Combine::max), lanes_));
  }

  void loop(int depth) {
    const DType d = kTypes[below(7)], e = kTypes[below(7)];
    const size_t outer = pool_.size();
    const auto results = b_.loop(
        b_.integer(below(3)), b_.integer(below(9)), b_.integer(1 + below(3)), {pick(d), pick(e)},
        [&](Reg i, const std::vector<Reg>& now) {
          pool_.push_back(now[0]);
          pool_.push_back(now[1]);
          pool_.push_back(b_.splat(i, lanes_));
          grow(depth - 1, 4);
          std::vector<Reg> yields{pick(d), pick(e)};
          pool_.resize(outer);
          return yields;
        },
        1 + static_cast<int>(below(3)));
    pool_.insert(pool_.end(), results.begin(), results.end());
  }

  void branch(int depth) {
    const DType d = kTypes[below(7)];
    const size_t outer = pool_.size();
    auto side = [&] {
      grow(depth - 1, 3);
      std::vector<Reg> yields{pick(d)};
      pool_.resize(outer);
      return yields;
    };
    const Reg condition = b_.reduce(pick(DType::boolean), ops::Combine::logical_and);
    const auto results = b_.branch(condition, side, side);
    pool_.push_back(results[0]);
  }

  TileBuilder b_;
  int lanes_;
  std::mt19937 random_;
  Reg at_ = kNone;
  std::vector<Reg> pool_;
};

TEST(EmitRandom, KernelsEqualTheInterpreter) {
  for (uint32_t seed = 1; seed <= 24; ++seed)
    for (const Target& target : targets()) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      TileKernel k{.name = "random"};
      Grower(k, seed % 4 == 0 ? 1 : seed % 4 == 1 ? 4 : target.lanes(), seed).kernel();
      std::vector<Data> data;
      for (DType d : kTypes) data.push_back(random_data(d, kCount + 64, seed + static_cast<uint32_t>(d)));
      for (DType d : kTypes) data.emplace_back(d, kCount);
      expect_same(k, target, data, {}, 0, kCount);
      if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace tenon::codegen
