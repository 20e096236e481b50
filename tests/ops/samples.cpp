// SPDX-License-Identifier: Apache-2.0
// Every op's samples in every check: inference, reference in both modes, loop form, shape data, symbolic sizes, text form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/text.h"
#include "ops/core/sample.h"
#include "ops/infer/verify_types.h"
#include "ops/reference/evaluate.h"
#include "ops/reference/interpret.h"

namespace tenon::ops {
namespace {

double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-9;
    case DType::f32: return 2e-6;
    case DType::f16: return 2e-3;
    case DType::bf16: return 1.6e-2;
    default: return 0.13;
  }
}

/// The first difference of two tensors as text; empty where they agree.
std::string difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype())
    return type_text(a.dtype(), a.shape()) + " against " + type_text(b.dtype(), b.shape());
  for (int64_t i = 0; i < a.count(); ++i) {
    const bool numbers = is_float(a.dtype());
    const double x = numbers ? a.number(i) : 0, y = numbers ? b.number(i) : 0;
    const bool same =
        numbers ? (std::isnan(x) && std::isnan(y)) || x == y || std::fabs(x - y) <= tolerance_of(a.dtype()) * std::max(1.0, std::fabs(x))
                : a.integer(i) == b.integer(i);
    if (!same) {
      return "element " + std::to_string(i) + ": " + std::to_string(numbers ? x : static_cast<double>(a.integer(i))) + " against " +
             std::to_string(numbers ? y : static_cast<double>(b.integer(i)));
    }
  }
  return "";
}

/// The number for a symbol, which is named after its size ("n3"); symbols of data-dependent sizes have none.
Dim number_of_symbol(const DimNode& symbol) {
  return symbol.name.starts_with('n') ? Dim(static_cast<int64_t>(std::stoll(symbol.name.substr(1)))) : Dim(-1);
}

bool depends_on_data(Dim d) {
  bool yes = false;
  if (!d.is_number()) each_symbol(d, [&](const DimNode& s) { yes |= !s.name.starts_with('n'); });
  return yes;
}

void check_types(const SampleCase& made, const std::vector<Tensor>& results) {
  const ir::Node& node = made.graph->node(made.node);
  for (size_t k = 0; k < results.size(); ++k) {
    const ir::Value& value = made.graph->value(node.outputs[k]);
    ASSERT_EQ(value.type.dtype, results[k].dtype());
    if (!value.type.has_rank()) continue;
    ASSERT_EQ(value.type.rank(), results[k].rank()) << value.type.text();
    for (int a = 0; a < value.type.rank(); ++a) {
      if (depends_on_data(value.type.dim(a))) continue;
      EXPECT_EQ(substitute(value.type.dim(a), number_of_symbol), Dim(results[k].shape()[static_cast<size_t>(a)])) << value.type.text();
    }
    if (!value.data) continue;
    ASSERT_EQ(static_cast<int64_t>(value.data->size()), results[k].count());
    for (int64_t i = 0; i < results[k].count(); ++i) {
      const Dim d = (*value.data)[static_cast<size_t>(i)];
      if (!depends_on_data(d)) EXPECT_EQ(substitute(d, number_of_symbol), Dim(results[k].integer(i))) << "shape data " << d.text();
    }
  }
}

void check_form(const OpDef& def, const SampleCase& made, const std::vector<Tensor>& results) {
  if (!def.loop_form) return;
  for (ir::ValueId v : made.graph->node(made.node).outputs) {
    const ir::Type& type = made.graph->value(v).type;
    if (!type.has_rank() || std::any_of(type.shape->begin(), type.shape->end(), depends_on_data)) return;
  }
  auto form = def.loop_form(made.graph->view(made.node));
  if (!form) {
    EXPECT_EQ(form.error().code(), Code::not_supported) << form.error().text();
    return;
  }
  std::vector<const Tensor*> operands;
  for (const Tensor& t : made.operands) operands.push_back(t.empty_handle() ? nullptr : &t);
  auto found = interpret(*form, operands, number_of_symbol);
  ASSERT_TRUE(found) << found.error().text() << "\n" << text_of(*form);
  for (size_t k = 0; k < results.size() && k < found->size(); ++k) {
    EXPECT_EQ(difference(results[k], (*found)[k]), "") << "reference against form, result " << k << "\n" << text_of(*form);
  }
}

void check_host_kernel(const SampleCase& made, const std::vector<Tensor>& results) {
  auto kernels = host_kernels_of(*made.graph);
  ASSERT_TRUE(kernels) << kernels.error().text();
  if (kernels->empty()) return;
  EvaluateOptions options;
  options.host_kernels = &*kernels;
  auto found = evaluate(*made.graph, made.inputs, options);
  ASSERT_TRUE(found) << found.error().text();
  for (size_t k = 0; k < results.size(); ++k)
    EXPECT_EQ(difference(results[k], (*found)[k]), "") << "reference against host kernel, result " << k;
}

void check_sample(const OpDef& def, std::string_view text) {
  SCOPED_TRACE(std::string(def.name) + ": " + std::string(text));
  auto sample = parse_sample(def, text);
  ASSERT_TRUE(sample) << sample.error().text();
  auto made = build_sample(def, *sample, 1);
  ASSERT_TRUE(made) << made.error().text();
  auto results = evaluate(*made->graph, made->inputs);
  ASSERT_TRUE(results) << results.error().text();
  check_types(*made, *results);
  EXPECT_TRUE(verify_types(*made->graph));
  EvaluateOptions wide;
  wide.mode = Mode::wide;
  auto fine = evaluate(*made->graph, made->inputs, wide);
  ASSERT_TRUE(fine) << fine.error().text();
  if (!def.deterministic) return;
  check_host_kernel(*made, *results);
  check_form(def, *made, *results);
  auto symbolic = build_sample(def, *sample, 1, true);
  if (!symbolic && symbolic.error().code() == Code::not_supported) return;  // needs that size (the kernel of Conv)
  ASSERT_TRUE(symbolic) << "with symbolic sizes: " << symbolic.error().text();
  check_types(*symbolic, *results);
  check_form(def, *symbolic, *results);
  const std::string printed = ir::print(*made->graph);
  auto again = ir::parse(printed, table());
  ASSERT_TRUE(again) << again.error().text() << "\n" << printed;
  EXPECT_EQ(ir::print(**again), printed);
}

class Samples : public testing::TestWithParam<const OpDef*> {};

TEST_P(Samples, PassAllChecks) {
  for (std::string_view text : GetParam()->samples) check_sample(*GetParam(), text);
}

INSTANTIATE_TEST_SUITE_P(EveryOp, Samples, testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const testing::TestParamInfo<const OpDef*>& info) {
                           return std::string(info.param->domain == "com.microsoft" ? "Contrib" : "") + std::string(info.param->name);
                         });

TEST(Registry, FindsOpsByNameAndRefusesUnknownAttributes) {
  ASSERT_NE(table().find("", "Relu"), nullptr);
  EXPECT_EQ(table().find("", "NoSuchOp"), nullptr);
  EXPECT_EQ(table().find("com.example", "Relu"), nullptr);
  const OpDef& cast = def_of(*table().find("", "Cast"));
  ir::Graph graph(table());
  const ir::ValueId x = graph.add_input("x", ir::Type(DType::f32, {2}));
  ir::Attributes attributes;
  attributes.set("to", int64_t{1});
  attributes.set("colour", int64_t{1});
  const ir::NodeId node = graph.insert(*table().find(cast.domain, cast.name), {x}, 1, attributes);
  auto done = ir::infer(graph, node);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Code::bad_attribute);
  EXPECT_NE(done.error().text().find("colour"), std::string::npos);
}

}  // namespace
}  // namespace tenon::ops
