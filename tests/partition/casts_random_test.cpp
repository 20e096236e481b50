// SPDX-License-Identifier: Apache-2.0
// Random graphs of mixed element types, over backends that lack some: by reference, what they give with Casts is what they give without.
#include <cmath>
#include <random>
#include <set>

#include "ir/verify.h"
#include "named.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "partition/retype.h"

namespace tenon::partition {
namespace {

/// Refuses some types wholly, and of others some ops, so that Casts of all kinds come about.
class Lacking final : public backend::Backend {
 public:
  Lacking(std::set<DType> types, uint64_t seed) : types_(std::move(types)), seed_(seed) {}
  std::string_view name() const override { return types_.empty() ? "host" : "acc"; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    const ir::Node& n = graph.node(node);
    for (const auto* values : {&n.inputs, &n.outputs})
      for (ir::ValueId v : *values)
        if (v && types_.contains(graph.value(v).type.dtype)) return fail(Code::not_supported, "", "no such type");
    if (!types_.empty() && (std::hash<std::string>()(n.op->name) ^ seed_) % 4 == 0) return fail(Code::not_supported, "", "no such op");
    return {};
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
  bool makes_kernels() const override { return types_.empty(); }
  Result<backend::Artifact> compile(const backend::Share&, const backend::Options&) const override { return backend::Blob(); }

 private:
  std::set<DType> types_;
  uint64_t seed_;
};

const std::vector<DType> kIntegers = {DType::i8, DType::i16, DType::u8, DType::i32, DType::i64};
const std::vector<DType> kFloats = {DType::f16, DType::f32, DType::f64};

/// Integers come from integers alone, so that they are the same to the bit; floats stay small.
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string write(size_t nodes, bool floats) {
    std::string inputs, lines, results;
    for (DType d : floats ? kFloats : kIntegers) {
      for (int k = 0; k < 2; ++k) {
        inputs += fmt::format("{}x{}: {}[2,3]", inputs.empty() ? "" : ", ", values_.size(), name_of(d));
        values_.push_back({fmt::format("x{}", values_.size()), d});
      }
    }
    for (size_t k = 0; k < nodes; ++k) {
      const Value v = some();
      const std::string name = fmt::format("v{}", k);
      const auto& [call, type] = floats ? of_floats(v) : of_integers(v);
      lines += fmt::format("  {} = {}\n", name, call);
      values_.push_back({name, type});
    }
    for (size_t k = 0; k < 4; ++k) results += fmt::format("{}v{}", k == 0 ? "" : ", ", nodes - 1 - k);
    return fmt::format("graph main({}) {{\n  const axis: i64[] = 1\n{}  return {}\n}}", inputs, lines, results);
  }

 private:
  struct Value {
    std::string name;
    DType type;
  };
  using Call = std::pair<std::string, DType>;

  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  Value some() { return values_[values_.size() - 1 - pick(std::min<size_t>(values_.size(), 12))]; }
  Value like(const Value& v) {
    std::vector<Value> same;
    for (const Value& other : values_)
      if (other.type == v.type) same.push_back(other);
    return same[pick(same.size())];
  }
  Call two(std::string_view op, const Value& v) { return {fmt::format("{}({}, {})", op, v.name, like(v).name), v.type}; }

  Call cast(const Value& v, const std::vector<DType>& types) {
    const DType to = types[pick(types.size())];
    return {fmt::format("Cast({}, to={})", v.name, static_cast<int>(to)), to};
  }

  Call of_integers(const Value& v) {
    constexpr std::string_view kTwo[] = {"Add", "Sub", "Mul", "Max", "Min", "Div", "Mod", "BitwiseAnd", "BitwiseXor", "BitwiseOr"};
    switch (pick(8)) {
      case 0: return cast(v, kIntegers);
      case 1: return {fmt::format("BitwiseNot({})", v.name), v.type};
      case 2: return {fmt::format("Abs({})", v.name), v.type};
      case 3: return {fmt::format("CumSum({}, axis)", v.name), v.type};
      default: return two(kTwo[pick(std::size(kTwo))], v);
    }
  }
  Call of_floats(const Value& v) {
    constexpr std::string_view kTwo[] = {"Max", "Min", "Add", "Sub"};
    constexpr std::string_view kOne[] = {"Tanh", "Sigmoid", "Sin", "Softmax", "Erf"};
    if (pick(6) == 0) return cast(v, kFloats);
    return pick(3) == 0 ? two(kTwo[pick(std::size(kTwo))], v) : Call{fmt::format("{}({})", kOne[pick(std::size(kOne))], v.name), v.type};
  }

  std::mt19937_64 random_;
  std::vector<Value> values_;
};

std::vector<Tensor> inputs_of(const ir::Graph& graph, uint64_t seed, double largest) {
  std::vector<Tensor> out;
  for (ir::ValueId v : graph.inputs()) {
    const DType type = graph.value(v).type.dtype;
    const double fits = is_integer(type) ? std::ldexp(1, bits_of(type) - is_signed(type)) - 1 : largest;
    out.push_back(*ops::random_tensor(type, {2, 3}, seed * 100 + out.size(), -std::min(fits, largest), std::min(fits, largest)));
  }
  return out;
}

struct Pair {
  std::vector<Tensor> as_it_was, with_casts;
  size_t casts = 0;
};

/// A graph of the seed, and what it gives before and after.
Pair results_of(uint64_t seed, bool floats, double largest) {
  const std::string text = Writer(seed).write(24, floats);
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  const std::vector<DType>& all = floats ? kFloats : kIntegers;
  std::set<DType> lacked;
  for (size_t k = 0; k < all.size(); ++k)
    if ((seed + 1) >> k & 1) lacked.insert(all[k]);
  if (lacked.empty()) lacked.insert(all[0]);
  const Lacking acc(lacked, seed), host({}, seed);
  const backend::Backends backends = {&acc, &host};
  auto graph = graph_of(text);
  const auto inputs = inputs_of(*graph, seed, largest);
  Pair out;
  out.as_it_was = *ops::evaluate(*graph, inputs);
  const size_t before = graph->node_count();
  const auto shares = partition_with_casts(graph, Roles(backends, size_t{0}), {});
  EXPECT_TRUE(shares) << shares.error().text();
  out.casts = graph->node_count() - before;
  const auto legal = ir::verify(*graph);
  EXPECT_TRUE(legal) << legal.error().text();
  out.with_casts = *ops::evaluate(*graph, inputs);
  return out;
}

TEST(CastsRandom, IntegersAreTheSameToTheBit) {
  size_t with_casts = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Pair got = results_of(seed, false, 1e12);
    with_casts += got.casts > 0;
    for (size_t k = 0; k < got.as_it_was.size(); ++k) {
      const Tensor &want = got.as_it_was[k], &is = got.with_casts[k];
      ASSERT_EQ(want.dtype(), is.dtype()) << "seed " << seed;
      ASSERT_EQ(want.shape(), is.shape());
      for (int64_t i = 0; i < want.count(); ++i) ASSERT_EQ(want.integer(i), is.integer(i)) << "seed " << seed << ", result " << k;
    }
  }
  EXPECT_GT(with_casts, 150u);
}

/// Between two nodes nothing is rounded that was: both lie as near the truth as roundings to the narrowest type let them.
TEST(CastsRandom, FloatsLieWithinTheirBounds) {
  size_t with_casts = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Pair got = results_of(seed, true, 2);
    with_casts += got.casts > 0;
    for (size_t k = 0; k < got.as_it_was.size(); ++k) {
      const Tensor &want = got.as_it_was[k], &is = got.with_casts[k];
      ASSERT_EQ(want.dtype(), is.dtype()) << "seed " << seed;
      for (int64_t i = 0; i < want.count(); ++i)
        ASSERT_NEAR(want.number(i), is.number(i), 2e-2 * std::max(1.0, std::fabs(want.number(i)))) << "seed " << seed << ", result " << k;
    }
  }
  EXPECT_GT(with_casts, 150u);
}

}  // namespace
}  // namespace tenon::partition
