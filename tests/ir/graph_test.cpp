// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fake_ops.h"
#include "ir/builder.h"
#include "ir/port_names.h"
#include "ir/verify.h"

namespace tenon::ir {
namespace {

const Type kVector(DType::f32, {4});

struct GraphTest : testing::Test {
  fake::Table ops;
  Graph g{ops};
  ValueId x = g.add_input("x", kVector);

  ValueId relu(ValueId in, NodeId before = {}) { return g.node(g.insert(ops["Relu"], {in}, 1, {}, before)).outputs[0]; }
  ValueId add(ValueId a, ValueId b, NodeId before = {}) { return g.node(g.insert(ops["Add"], {a, b}, 1, {}, before)).outputs[0]; }
  NodeId maker(ValueId v) { return g.value(v).producer; }
  void sound() {
    auto checked = verify(g);
    ASSERT_TRUE(checked) << checked.error().text();
  }
};

TEST_F(GraphTest, KeepsUsersOfNodesAndOutputs) {
  ValueId a = relu(x), b = add(a, a);
  g.add_output(a, "first");
  g.add_output(b);
  EXPECT_EQ(g.value(a).uses.size(), 3u);
  EXPECT_TRUE(g.is_output(a));
  EXPECT_FALSE(g.only_user(a));
  EXPECT_EQ(g.only_user(x), maker(a));
  EXPECT_FALSE(g.only_user(b)) << "an output is no user node";
  EXPECT_EQ(g.output_name(0), "first");
  sound();
  g.set_output(0, b);
  g.set_operand(maker(b), 0, x);
  EXPECT_EQ(g.value(a).uses.size(), 1u);
  EXPECT_EQ(g.output_name(0), "first");
  sound();
}

TEST_F(GraphTest, CatchesStaleIds) {
  ValueId a = relu(x);
  NodeId n = maker(a);
  g.erase(n);
  EXPECT_FALSE(g.alive(n));
  EXPECT_FALSE(g.alive(a));
  ValueId b = relu(x);
  EXPECT_EQ(maker(b).slot(), n.slot()) << "the slot is used again";
  EXPECT_NE(maker(b), n);
  EXPECT_DEATH((void)g.node(n), "alive");
  EXPECT_DEATH((void)g.value(a), "alive");
}

TEST_F(GraphTest, NeverGivesTheSameIdTwice) {
  std::vector<NodeId> seen;
  for (int i = 0; i < 2000; ++i) {
    NodeId n = maker(relu(x));
    seen.push_back(n);
    g.erase(n);
  }
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST_F(GraphTest, InsertsBeforeANodeInOrder) {
  ValueId a = relu(x), b = relu(a);
  ValueId c = relu(a, maker(b)), d = relu(x, maker(a));
  EXPECT_TRUE(g.is_before(maker(c), maker(b)));
  EXPECT_TRUE(g.is_before(maker(a), maker(c)));
  EXPECT_EQ(g.first(), maker(d));
  EXPECT_DEATH(relu(b, maker(c)), "is_defined_before");
}

TEST_F(GraphTest, OrderKeysHoldWhereAllInsertionsMeet) {
  ValueId a = relu(x), last = relu(a);
  NodeId before = maker(last);
  std::vector<NodeId> forward, backward;
  for (int i = 0; i < 100'000; ++i) forward.push_back(maker(relu(x, before)));
  for (int i = 0; i < 100'000; ++i) backward.push_back(maker(relu(x, i ? backward.back() : forward[50'000])));
  EXPECT_TRUE(g.is_before(forward[0], forward[1]));
  EXPECT_TRUE(g.is_before(forward[49'999], backward.back()));
  EXPECT_TRUE(g.is_before(backward.front(), forward[50'000]));
  sound();
}

TEST_F(GraphTest, OrderKeysHoldUnderRandomInsertions) {
  std::mt19937 random(7);
  std::vector<NodeId> nodes{maker(relu(x))};
  for (int i = 0; i < 20'000; ++i) nodes.push_back(maker(relu(x, nodes[random() % std::min<size_t>(nodes.size(), 50)])));
  sound();
}

TEST_F(GraphTest, ReplaceAllUsesMovesUsersAfterTheValue) {
  ValueId a = relu(x), user = relu(a), second = relu(user), late = relu(x), after = add(second, late);
  g.add_output(after);
  ASSERT_TRUE(g.replace_all_uses(a, late));
  EXPECT_TRUE(g.value(a).uses.empty());
  EXPECT_TRUE(g.is_before(maker(late), maker(user)));
  EXPECT_TRUE(g.is_before(maker(user), maker(second)));
  EXPECT_TRUE(g.is_before(maker(second), maker(after)));
  sound();
}

TEST_F(GraphTest, RefusesAReplacementThatMakesACycle) {
  ValueId a = relu(x), b = relu(a), c = relu(b);
  g.add_output(c);
  EXPECT_FALSE(g.replace_all_uses(a, c));
  EXPECT_EQ(g.value(a).uses.size(), 1u);
  EXPECT_TRUE(g.is_before(maker(a), maker(b)));
  sound();
}

TEST_F(GraphTest, LeavesTheUsesOfOneNode) {
  ValueId a = relu(x), b = relu(a), wrapped = relu(a);
  g.add_output(b);
  ASSERT_TRUE(g.replace_all_uses(a, wrapped, maker(wrapped)));
  EXPECT_EQ(g.node(maker(wrapped)).inputs[0], a);
  EXPECT_EQ(g.node(maker(b)).inputs[0], wrapped);
  EXPECT_TRUE(g.is_before(maker(wrapped), maker(b)));
  sound();
}

TEST_F(GraphTest, MovesOnlyWhereOperandsAndUsersAllow) {
  ValueId a = relu(x), b = relu(x), c = relu(a);
  g.move_before(maker(b), maker(a));
  EXPECT_EQ(g.first(), maker(b));
  g.move_before(maker(b), {});
  EXPECT_EQ(g.last(), maker(b));
  sound();
  EXPECT_DEATH(g.move_before(maker(c), maker(a)), "is_defined_before");
  EXPECT_DEATH(g.move_before(maker(a), {}), "is_before");
}

TEST_F(GraphTest, TakesAHundredThousandUsers) {
  ValueId a = relu(x), b = relu(x);
  std::vector<NodeId> users;
  for (int i = 0; i < 100'000; ++i) users.push_back(maker(relu(a)));
  std::mt19937 random(1);
  std::ranges::shuffle(users, random);
  for (int i = 0; i < 50'000; ++i) g.erase(users[static_cast<size_t>(i)]);
  EXPECT_EQ(g.value(a).uses.size(), 50'000u);
  ASSERT_TRUE(g.replace_all_uses(a, b));
  EXPECT_EQ(g.value(b).uses.size(), 50'000u);
  sound();
}

TEST_F(GraphTest, HoldsAMillionNodes) {
  ValueId at = x;
  for (int i = 0; i < 1'000'000; ++i) at = relu(at);
  g.add_output(at);
  EXPECT_EQ(g.node_count(), 1'000'000u);
  sound();
  size_t seen = 0;
  for (NodeId n : g.nodes()) seen += g.node(n).is("Relu");
  EXPECT_EQ(seen, 1'000'000u);
}

TEST_F(GraphTest, ErasesWhileWalking) {
  for (int i = 0; i < 10; ++i) relu(x);
  int k = 0;
  for (NodeId n : g.nodes()) {
    if (k++ % 2 == 0) g.erase(n);
  }
  EXPECT_EQ(k, 10);
  EXPECT_EQ(g.node_count(), 5u);
  sound();
}

TEST_F(GraphTest, MakesNamesUnique) {
  ValueId a = relu(x), b = relu(x), c = relu(x);
  g.set_name(a, "h");
  g.set_name(b, "h");
  g.set_name(c, "h");
  EXPECT_EQ(g.value(a).name, "h");
  EXPECT_EQ(g.value(b).name, "h_1");
  EXPECT_EQ(g.value(c).name, "h_2");
  EXPECT_EQ(g.find_value("h_1"), b);
  g.set_name(a, "");
  EXPECT_FALSE(g.find_value("h"));
  sound();
}

TEST_F(GraphTest, HandsNamesOver) {
  ValueId a = relu(x), b = relu(a);
  g.set_name(a, "layer");
  g.transfer_name(a, b);
  EXPECT_EQ(g.find_value("layer"), b);
  EXPECT_EQ(g.value(a).name, "");
  EXPECT_EQ(g.value(b).name, "layer");
  g.transfer_name(a, b = relu(b));
  EXPECT_EQ(g.value(b).name, "") << "a value without a name has none to give";
  sound();
}

TEST_F(GraphTest, FindsNamesAmongThousandsThatComeAndGo) {
  std::vector<ValueId> made;
  for (int i = 0; i < 5000; ++i) {
    made.push_back(relu(x));
    g.set_name(made.back(), "value " + std::to_string(i));
  }
  for (int i = 0; i < 5000; i += 3) g.erase(maker(made[static_cast<size_t>(i)]));
  for (int i = 0; i < 5000; ++i)
    EXPECT_EQ(g.find_value("value " + std::to_string(i)), i % 3 ? made[static_cast<size_t>(i)] : ValueId{}) << i;
  sound();
}

TEST_F(GraphTest, HoldsNodesOfManyOperandsAndValuesOfManyUses) {
  std::vector<ValueId> operands(9, x);
  operands[4] = relu(x);
  NodeId n = g.insert(ops["Sum"], operands, 1);
  EXPECT_EQ(g.value(x).uses.size(), 9u);
  EXPECT_EQ(g.node(n).inputs, operands);
  g.set_operand(n, 4, x);
  EXPECT_EQ(g.value(x).uses.size(), 10u);
  sound();
  g.erase(n);
  EXPECT_EQ(g.value(x).uses.size(), 1u);
  sound();
}

TEST_F(GraphTest, AppendsAndTrimsOperands) {
  NodeId n = g.insert(ops["Clip"], {x}, 1);
  g.set_operand(n, 1, {});
  g.set_operand(n, 2, x);
  EXPECT_EQ(g.node(n).explicit_inputs, 3u);
  sound();
  g.set_operand(n, 2, {});
  g.trim_operands(n);
  EXPECT_EQ(g.node(n).inputs.size(), 1u);
  EXPECT_EQ(g.value(x).uses.size(), 1u);
  sound();
}

TEST_F(GraphTest, DropsResultsAndInputs) {
  NodeId n = g.insert(ops["Dropout"], {x}, 2);
  g.drop_result(n, 1);
  EXPECT_EQ(g.node(n).outputs.size(), 1u);
  ValueId a = g.add_input("a", kVector), b = g.add_input("b", kVector);
  g.erase_value(a);
  EXPECT_EQ(g.value(b).index, 1u);
  g.add_output(x);
  g.add_output(b, "bee");
  g.erase_output(0);
  EXPECT_EQ(g.output_name(0), "bee");
  sound();
}

TEST_F(GraphTest, InputsWithDefaultsFollowThoseWithout) {
  Graph g(ops);
  const auto names = [&] {
    std::string out;
    for (size_t k = 0; k < g.inputs().size(); ++k) {
      EXPECT_EQ(g.value(g.inputs()[k]).index, k);
      out += g.value(g.inputs()[k]).name;
    }
    return out;
  };
  const ConstantRef one = constant_of(Tensor::scalar(DType::f32, 1));
  const ValueId a = g.add_input("a", Type(DType::f32, {})), b = g.add_input("b", Type(DType::f32, {})),
                c = g.add_input("c", Type(DType::f32, {}));
  g.set_default(a, one);
  EXPECT_EQ(names(), "bca");
  g.set_default(b, one);
  EXPECT_EQ(names(), "cab");
  g.set_default(a, constant_of(Tensor::scalar(DType::f32, 2)));
  g.add_input("d", Type(DType::f32, {}));
  EXPECT_EQ(names(), "cdab");
  EXPECT_EQ(g.required_inputs(), 2u);
  EXPECT_TRUE(verify(g));
  g.set_default(a, nullptr);
  EXPECT_EQ(names(), "cdab");
  EXPECT_EQ(g.required_inputs(), 3u);
  EXPECT_FALSE(g.value(c).has_default());
  EXPECT_TRUE(verify(g));
}

TEST_F(GraphTest, KeepsCapturesAsOperands) {
  ValueId c = g.add_input("c", Type(DType::boolean, {})), h = relu(x), k = relu(x);
  NodeId n = g.insert(ops["If"], {c}, 1);
  auto make = [&](ValueId captured) {
    auto body = Graph::body_of(g);
    ValueId in = body->add_input("in", g.value(captured).type);
    body->add_output(body->node(body->insert(ops["Relu"], {in}, 1)).outputs[0]);
    g.attach_body(n, "branch", std::move(body), std::array{captured});
  };
  make(h);
  make(k);
  EXPECT_EQ(g.node(n).inputs, (std::vector<ValueId>{c, h, k}));
  EXPECT_EQ(g.node(n).explicit_inputs, 1u);
  sound();
  ValueId inner = g.add_capture(n, 0, x);
  EXPECT_EQ(g.node(n).inputs, (std::vector<ValueId>{c, h, x, k}));
  EXPECT_EQ(g.node(n).bodies[1].first_capture, 3u);
  EXPECT_EQ(g.body(n, 0).inputs()[1], inner);
  sound();
  ASSERT_TRUE(g.replace_all_uses(h, x));
  g.drop_capture(n, 0, 1);
  EXPECT_EQ(g.node(n).inputs, (std::vector<ValueId>{c, x, k}));
  sound();
  g.erase(n);
  EXPECT_TRUE(g.value(k).uses.empty());
  sound();
}

TEST_F(GraphTest, ClonesWithTheSameIdsAndSymbolsOfItsOwn) {
  Dim batch = g.symbols().symbol("batch", 1, 8);
  ValueId y = g.add_input("y", Type(DType::f32, {batch * 2}));
  ValueId a = relu(y);
  g.erase(maker(relu(x)));
  ASSERT_TRUE(infer_all(g));
  g.add_output(a, "out");
  auto copy = g.clone();
  ASSERT_TRUE(verify(*copy));
  Dim d = copy->value(a).type.dim(0);
  EXPECT_EQ(d.text(), (batch * 2).text());
  EXPECT_EQ(d.node()->symbols, &copy->symbols());
  EXPECT_EQ(d.upper(), 16);
  EXPECT_EQ(copy->output_name(0), "out");
  EXPECT_EQ(copy->find_value("y"), y);
  copy->erase_output(0);
  copy->erase(copy->value(a).producer);
  EXPECT_TRUE(g.alive(a));
  sound();
}

struct Log : Listener {
  std::string text;
  void inserted(NodeId) override { text += "i"; }
  void erasing(NodeId) override { text += "e"; }
  void operand_changed(NodeId, uint32_t, ValueId) override { text += "o"; }
  void output_changed(uint32_t, ValueId) override { text += "g"; }
  void moved(NodeId) override { text += "m"; }
  void attribute_changed(NodeId, std::string_view, const Attribute* before) override { text += before ? "A" : "a"; }
  void value_added(ValueId) override { text += "v"; }
  void value_erasing(ValueId) override { text += "x"; }
  void value_renamed(ValueId, const std::string&) override { text += "n"; }
  void type_changed(ValueId, const Type&) override { text += "t"; }
};

TEST_F(GraphTest, NotifiesItsListenerOfEveryChange) {
  Log log;
  ValueId a = relu(x), user = relu(a);
  g.add_output(a);
  g.set_listener(&log);
  ValueId b = relu(x);
  ASSERT_TRUE(g.replace_all_uses(a, b));
  EXPECT_EQ(log.text.substr(0, 2), "im");
  EXPECT_EQ(std::ranges::count(log.text, 'o'), 1);
  EXPECT_EQ(std::ranges::count(log.text, 'g'), 1);
  log.text.clear();
  g.erase(maker(a));
  g.set_attribute(maker(user), "k", int64_t{1});
  g.set_attribute(maker(user), "k", int64_t{2});
  g.erase_value(g.add_constant(constant_of(Tensor::scalar(DType::f32, 1))));
  g.set_name(b, "b");
  g.set_type(b, kVector);
  EXPECT_EQ(log.text, "eaAvxnt");
}

TEST_F(GraphTest, RefusesPortsOfOneName) {
  ValueId a = relu(x), b = relu(a);
  g.set_name(a, "a");
  g.add_output(a, "y");
  g.add_output(b);
  g.add_output(relu(b));
  EXPECT_TRUE(check_port_names(g)) << "outputs without a name are known by their place";
  EXPECT_EQ(check_new_output(g, "y").error()->place, "output 'y'");
  EXPECT_TRUE(check_new_output(g, "a"));
  EXPECT_EQ(check_new_input(g, "x").error()->place, "input 'x'");
  EXPECT_EQ(check_new_input(g, "a").error()->place, "input 'a'");
  EXPECT_TRUE(check_new_input(g, "y")) << "an output's name is not its value's";
  g.add_output(a, "y");
  EXPECT_EQ(check_port_names(g).error().code(), Code::bad_graph);
}

}  // namespace
}  // namespace tenon::ir
