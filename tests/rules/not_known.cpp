// SPDX-License-Identifier: Apache-2.0
// Every case again, with one constant whose bytes were not read, or one node of an unknown op: rules then match less and must still be
// correct.
#include <gtest/gtest.h>

#include "cases.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/unknown.h"
#include "ops/infer/verify_types.h"
#include "rewrite/driver/driver.h"

namespace tenon::tests {
namespace {

class NotKnown : public testing::TestWithParam<std::string> {
 protected:
  static std::vector<Case> cases() {
    std::vector<Case> out;
    for (Case& c : all_cases(TENON_TEST_DATA))
      if (c.file == GetParam()) out.push_back(std::move(c));
    return out;
  }

  /// Runs the rules of the case on its graph as `change` leaves it.
  template <class Change>
  static void run(const Case& c, const rewrite::RuleSet& set, Change change) {
    auto graph = ir::parse(c.in, ops::table_with_unknown_ops());
    ASSERT_TRUE(graph) << graph.error().text();
    change(**graph);
    SCOPED_TRACE(c.name + "\n" + ir::print(**graph));
    rewrite::Options options;
    options.allowed = c.numerics;
    const auto stats = rewrite::rewrite(**graph, set, options);
    ASSERT_TRUE(stats) << stats.error().text();
    EXPECT_TRUE(stats->reports.empty()) << stats->reports[0];
    const auto ok = ir::verify(**graph), typed = ops::verify_types(**graph);
    EXPECT_TRUE(ok) << ok.error().text();
    EXPECT_TRUE(typed) << typed.error().text();
    for (ir::ValueId v : (*graph)->values()) {
      const ir::Value& value = (*graph)->value(v);
      if (value.is_constant() && value.constant->unread())
        EXPECT_TRUE(std::holds_alternative<ir::Constant::Reference>(value.constant->source)) << value.name;
    }
  }

  static rewrite::RuleSet set_of(const Case& c) { return *rewrite::RuleSet::make(named(c.rules), ops::table_with_unknown_ops()); }
};

void forget_bytes(ir::Graph& graph, ir::ValueId constant) {
  const ir::ConstantRef known = graph.value(constant).constant;
  const ir::ValueId unread = graph.add_constant(ir::reference_to({"w.bin", 0, {}, ""}, known->dtype, known->shape));
  ASSERT_TRUE(graph.replace_all_uses(constant, unread));
}

TEST_P(NotKnown, ConstantsWhoseBytesWereNotRead) {
  for (const Case& c : cases()) {
    const rewrite::RuleSet set = set_of(c);
    const auto graph = ir::parse(c.in, ops::table_with_unknown_ops());
    ASSERT_TRUE(graph) << graph.error().text();
    for (ir::ValueId v : (*graph)->values())
      if ((*graph)->value(v).is_constant()) run(c, set, [&](ir::Graph& g) { forget_bytes(g, v); });
  }
}

/// Replaces a node by one of an unknown op with the same operands, results and types. Nodes with bodies stay.
void forget_op(ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!node.bodies.empty()) return;
  const std::vector<ir::ValueId> results = node.outputs;
  const ir::NodeId unknown = graph.insert(*ops::table_with_unknown_ops().find("nobody", node.op->name),
                                          {node.inputs.begin(), node.inputs.end()}, results.size(), node.attributes, id);
  for (uint32_t k = 0; k < results.size(); ++k) {
    if (!results[k]) continue;
    const ir::ValueId made = graph.node(unknown).outputs[k];
    graph.set_type(made, graph.value(results[k]).type);
    ASSERT_TRUE(graph.replace_all_uses(results[k], made));
  }
  graph.erase(id);
}

TEST_P(NotKnown, UnknownOps) {
  for (const Case& c : cases()) {
    const rewrite::RuleSet set = set_of(c);
    const auto graph = ir::parse(c.in, ops::table_with_unknown_ops());
    ASSERT_TRUE(graph) << graph.error().text();
    for (ir::NodeId id : (*graph)->nodes()) run(c, set, [&](ir::Graph& g) { forget_op(g, id); });
  }
}

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const Case& c : all_cases(TENON_TEST_DATA))
    if (out.empty() || out.back() != c.file) out.push_back(c.file);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Text, NotKnown, testing::ValuesIn(files()), [](const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
  return name;
});

}  // namespace
}  // namespace tenon::tests
