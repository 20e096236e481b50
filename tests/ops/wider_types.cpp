// SPDX-License-Identifier: Apache-2.0
// same_in_wider() for integers against the reference: the sample in its own types, and between Casts to wider ones.
#include "ops/core/wider_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

Tensor whole_numbers(const Tensor& from, DType to) {
  Tensor out = *Tensor::make(to, from.shape());
  for (int64_t i = 0; i < from.count(); ++i)
    out.set_integer(i, std::isfinite(from.number(i)) ? static_cast<int64_t>(std::fabs(from.number(i))) : 0);
  return out;
}

/// The sample with operands of other types.
Sample with_types(Sample sample, DType from, DType to, double largest) {
  for (SampleOperand& o : sample.operands) {
    if (!o.present || o.dtype != from) continue;
    if (o.value) o.value = whole_numbers(*o.value, to);
    o.dtype = to;
    o.high = std::min(largest, std::ldexp(1.0, bits_of(to) - is_signed(to)) - 1);
    o.low = -o.high - 1;
  }
  return sample;
}

Result<std::vector<Tensor>> cast_all(const std::vector<Tensor>& from, const std::vector<DType>& to) {
  std::vector<Tensor> out;
  for (size_t k = 0; k < from.size(); ++k) {
    ir::Graph graph(table());
    DimList shape(from[k].shape().begin(), from[k].shape().end());
    const ir::ValueId x = graph.add_input("x", ir::Type(from[k].dtype(), shape));
    ir::Builder build(graph);
    graph.add_output(build("Cast", {x}, {{"to", static_cast<int64_t>(to[k])}}));
    out.push_back(TRY(evaluate(graph, std::vector{from[k]}))[0]);
  }
  return out;
}

/// The same node with operands of type `to` in place of `from`; null: the node is invalid then.
std::unique_ptr<ir::Graph> widened(const SampleCase& made, DType from, DType to) {
  auto graph = made.graph->clone();
  for (ir::ValueId v : graph->values()) {
    const ir::Value& value = graph->value(v);
    if (value.type.dtype != from || value.kind == ir::Value::Kind::result) continue;
    if (value.is_constant()) {
      const ir::ValueId wide = graph->add_constant(ir::cast(value.constant, to));
      graph->replace_all_uses(v, wide);
    } else {
      ir::Type type = value.type;
      type.dtype = to;
      graph->set_type(v, type);
    }
  }
  if (!ir::infer(*graph, made.node)) return nullptr;
  return graph;
}

struct Counts {
  size_t same = 0, other = 0;
};

/// Compares same_in_wider() with the results in both types; skipped where the node is invalid in one of them.
void hold(const OpDef& def, const Sample& sample, DType from, DType to, Counts& counts) {
  for (const double largest : {3.0, 1e12})  // the type has no more than fits
    for (uint64_t seed : {1, 2, 3}) {
      const Sample typed = with_types(sample, DType::f32, from, largest);
      auto made = build_sample(def, typed, seed);
      if (!made || std::ranges::none_of(made->operands, [&](const Tensor& t) { return t.dtype() == from; })) return;
      const auto wide = widened(*made, from, to);
      if (!wide) return;
      if (!same_in_wider(made->graph->view(made->node), wide->view(made->node))) {
        ++counts.other;
        return;
      }
      ++counts.same;
      const auto want = evaluate(*made->graph, made->inputs);
      if (!want) return;
      std::vector<DType> types, back;
      for (ir::ValueId v : wide->inputs()) types.push_back(wide->value(v).type.dtype);
      for (const Tensor& t : *want) back.push_back(t.dtype());
      const auto inputs = cast_all(made->inputs, types);
      ASSERT_TRUE(inputs) << inputs.error().text();
      const auto results = evaluate(*wide, *inputs);
      ASSERT_TRUE(results) << results.error().text();
      const auto got = cast_all(*results, back);
      ASSERT_TRUE(got) << got.error().text();
      for (size_t k = 0; k < want->size(); ++k) {
        ASSERT_EQ((*got)[k].shape(), (*want)[k].shape());
        ASSERT_EQ(std::string_view(reinterpret_cast<const char*>((*got)[k].data()), static_cast<size_t>((*got)[k].byte_size())),
                  std::string_view(reinterpret_cast<const char*>((*want)[k].data()), static_cast<size_t>((*want)[k].byte_size())))
            << "result " << k << " from " << name_of(from) << " to " << name_of(to);
      }
    }
}

TEST(Wider, IntegersAreTheSameToTheBit) {
  const std::vector<std::pair<DType, DType>> wider = {{DType::i8, DType::i32},  {DType::i16, DType::i64}, {DType::u8, DType::i32},
                                                      {DType::u16, DType::i64}, {DType::i32, DType::i64}, {DType::u32, DType::i64}};
  std::map<std::string, Counts> of_ops;
  for (const OpDef* def : all_ops()) {
    for (std::string_view text : def->samples) {
      const auto sample = parse_sample(*def, text);
      if (!sample) continue;
      for (const auto& [from, to] : wider) {
        SCOPED_TRACE(std::string(def->name) + ": " + std::string(text));
        hold(*def, *sample, from, to, of_ops[std::string(def->name)]);
        if (HasFatalFailure()) return;
      }
    }
  }
  std::string same, other;
  for (const auto& [op, counts] : of_ops) {
    if (counts.same > 0) same += op + " ";
    if (counts.other > 0) other += op + " ";
  }
  RecordProperty("same", same);
  RecordProperty("other", other);
  for (std::string_view op :
       {"Add",   "Sub",       "Mul", "Neg",       "Div",    "Mod",    "Max",    "Min",  "Equal",   "Less",   "Where", "Gather", "Concat",
        "Slice", "Transpose", "Pad", "ReduceSum", "MatMul", "CumSum", "ArgMax", "TopK", "NonZero", "Unique", "Sign",  "Relu"})
    EXPECT_GT(of_ops[std::string(op)].same, 0u) << op;
  for (std::string_view op : {"ReduceMean", "ReduceL2", "ReduceLogSum", "OneHotEncoder", "Upsample"})
    EXPECT_EQ(of_ops[std::string(op)].same, 0u) << op;
  if (HasFailure()) std::fprintf(stderr, "same: %s\nother: %s\n", same.c_str(), other.c_str());
}

/// Samples with numbers that overflow, which shows which nodes may be widened.
TEST(Wider, OverflowedIntegersPreserveLowBitsAlone) {
  const auto same = [](std::string_view op, std::string_view text) {
    const OpDef* def = *std::ranges::find_if(all_ops(), [&](const OpDef* d) { return d->name == op && d->domain.empty(); });
    const auto made = build_sample(*def, *parse_sample(*def, text), 1);
    EXPECT_TRUE(made) << made.error().text();
    const auto wide = widened(*made, DType::i8, DType::i32);
    return wide && same_in_wider(made->graph->view(made->node), wide->view(made->node));
  };
  EXPECT_TRUE(same("ReduceMax", "i8[2,3], i64[1] = [1]"));
  EXPECT_TRUE(same("Div", "i8[4], i8[4]"));
  EXPECT_FALSE(same("Pow", "i8[4], i8[4]"));
  EXPECT_FALSE(same("ReduceMean", "i8[2,3], i64[1] = [1]"));
  EXPECT_FALSE(same("QuantizeLinear", "f32[4], f32[], i8[]")) << "what does not fit is the nearest that does";
  EXPECT_FALSE(same("ReduceMax", "i8[2,0], i64[1] = [1]")) << "the least number of the type";
}

/// The loop form of a node whose operands have types that the op does not accept is refused, or is made nevertheless: a query for another
/// type never fails otherwise.
TEST(Wider, OperandsOfAnyTypeHaveAFormOrAreRefused) {
  const std::vector<DType> types = {DType::i8, DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64};
  size_t forms = 0;
  for (const OpDef* def : all_ops())
    for (std::string_view text : def->samples) {
      const auto sample = parse_sample(*def, text);
      const auto made = sample && def->loop_form ? build_sample(*def, *sample, 1) : Result<SampleCase>();
      if (!made || !made->graph) continue;
      for (DType from : types)
        for (DType to : types)
          if (const auto other = from != to ? widened(*made, from, to) : nullptr)
            forms += def->loop_form(other->view(made->node)).has_value();
    }
  EXPECT_GT(forms, 1000u);
}

/// Float nodes may always have a wider type, except those that read bit patterns or draw random numbers.
TEST(Wider, FloatsByTheirValues) {
  const auto same = [](std::string_view op, std::string_view text) {
    const OpDef* def = *std::ranges::find_if(all_ops(), [&](const OpDef* d) { return d->name == op && d->domain.empty(); });
    const auto made = build_sample(*def, *parse_sample(*def, text), 1);
    EXPECT_TRUE(made) << made.error().text();
    const auto wide = widened(*made, DType::f16, DType::f32);
    return wide && same_in_wider(made->graph->view(made->node), wide->view(made->node));
  };
  EXPECT_TRUE(same("Add", "f16[3], f16[3]"));
  EXPECT_TRUE(same("Softmax", "f16[2,3]"));
  EXPECT_TRUE(same("Cast", "f16[3]; to=7"));
  EXPECT_FALSE(same("BitCast", "f16[4]; to=5"));
  EXPECT_FALSE(same("RandomNormalLike", "f16[4]"));
}

}  // namespace
}  // namespace tenon::ops
