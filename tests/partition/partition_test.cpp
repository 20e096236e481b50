// SPDX-License-Identifier: Apache-2.0
#include "partition/partition.h"

#include <random>
#include <set>

#include "named.h"

namespace tenon::partition {
namespace {

/// "b{p q}(x -> q) ..." in the order of running; nodes in no segment are alone.
std::string text_of(const ir::Graph& graph, const std::vector<ir::Segment>& segments) {
  const auto name = [&](ir::ValueId v) { return " " + graph.value(v).name; };
  std::string out;
  for (const ir::ScheduleUnit& unit : *ir::schedule_units(graph, segments)) {
    if (!out.empty()) out += " ";
    if (!unit.segment) {
      out += graph.value(graph.node(unit.node).outputs[0]).name;
      continue;
    }
    out += unit.segment->backend + "{";
    for (ir::NodeId n : unit.segment->nodes) out += name(graph.node(n).outputs[0]);
    out += " }(";
    for (ir::ValueId v : unit.segment->operands) out += name(v);
    out += " ->";
    for (ir::ValueId v : unit.segment->results) out += name(v);
    out += " )";
  }
  return out;
}

/// The segments that are not in kernels.
Result<std::vector<ir::Segment>> segments_of(const ir::Graph& graph, const backend::Backends& backends) {
  const Roles roles(backends, size_t{0});
  return TRY(partition(graph, roles, {})).device_segments(roles);
}

std::string partitioned(std::string_view text, const backend::Backends& backends) {
  const auto graph = graph_of(text);
  const auto segments = segments_of(*graph, backends);
  return segments ? text_of(*graph, *segments) : segments.error().text();
}

constexpr std::string_view kDiamond = "graph main(x: f32[n]) { a = Exp(x) b = Neg(a) c = Abs(a) d = Sqrt(c) e = Add(b, d) return e }";

TEST(Partition, AssignsEachNodeToTheFirstBackendThatSupportsIt) {
  const Named one("one", {"b", "d"}), two("two", {"d", "e"}), host("host", {"a", "b", "c", "d", "e"});
  EXPECT_EQ(partitioned(kDiamond, {&one, &two, &host}), "a c one{ b d }( a c -> b d ) two{ e }( b d -> e )");
  EXPECT_EQ(partitioned(kDiamond, {&two, &one, &host}), "a one{ b }( a -> b ) c two{ d e }( c b -> e )");
  EXPECT_EQ(partitioned(kDiamond, {&host, &one, &two}), "a b c d e");
}

TEST(Partition, NeverMakesSegmentsThatDependOnEachOther) {
  const Named one("one", {"a", "e"}), host("host", {"b", "c", "d"});
  EXPECT_EQ(partitioned(kDiamond, {&one, &host}), "one{ a }( x -> a ) b c d one{ e }( b d -> e )");
}

TEST(Partition, ReturnsValuesThatDefineASize) {
  const Named one("one", {"i", "t"}), host("host", {"y"});
  EXPECT_EQ(partitioned("graph main(x: f32[n]) { i = NonZero(x) t = Neg(i) y = Abs(t) return y }", {&one, &host}),
            "one{ i t }( x -> i t ) y");
}

TEST(Partition, AReaderOfASizeFollowsItsDefinition) {
  const Named one("one", {"a", "b"}), host("host", {"h"});
  const auto graph = graph_of("graph main(x: f32[n]) { a = NonZero(x) h = Shape(x) b = Neg(h) return a, b }");
  const auto text = [&] { return text_of(*graph, *segments_of(*graph, {&one, &host})); };
  EXPECT_EQ(text(), "h one{ a b }( x h -> a b )");
  graph->set_data(graph->find_value("h"), ir::ShapeData{(*graph->value(graph->find_value("a")).type.shape)[1]});
  EXPECT_EQ(text(), "one{ a }( x -> a ) h one{ b }( h -> b )");
}

TEST(Partition, SizesOfInputsHaveNoDependencies) {
  const Named one("one", {"a", "h", "b"}), host("host", {"h"});
  const std::string model = "graph main(x: f32[n]) { a = Exp(x) h = Shape(a) b = Expand(a, h) return b }";
  EXPECT_EQ(partitioned(model, {&one, &host}), "h one{ a b }( x h -> b )");
  const auto graph = graph_of(model);
  const backend::Backends backends = {&one, &host};
  const Roles roles(backends, size_t{0});
  const auto partition = partition::partition(*graph, roles, {});
  ASSERT_TRUE(partition);
  EXPECT_EQ(lists_of(*graph, *partition), (std::vector<std::string>{"host: h", "one: a b"}));
  ASSERT_EQ(partition->borders.size(), 1u);
  EXPECT_EQ(graph->value(partition->borders[0].value).name, "h");
}

TEST(Partition, SizesDefinedByASegmentStayThere) {
  const Named one("one", {"i", "h", "b"}), host("host", {"h"});
  EXPECT_EQ(partitioned("graph main(x: f32[n]) { i = NonZero(x) h = Shape(i) b = Expand(x, h) return b }", {&one, &host}),
            "one{ i h b }( x -> i b )");
}

/// Hands its operand on, and tells of it.
const ops::OpDef kDefinesSize = {.name = "Tell",
                                 .domain = "test",
                                 .inputs = {.array = ops::literals<"x">},
                                 .outputs = {.array = ops::literals<"y">},
                                 .has_effects = true,
                                 .infer = [](ops::NodeView& view) -> Result<void> {
                                   view.outputs[0] = view.inputs[0].type;
                                   return {};
                                 }};

TEST(Partition, EffectsKeepTheirOrder) {
  const ops::OpDef* const log = &kDefinesSize;
  const auto table = ops::table_with({&log, 1});
  ASSERT_TRUE(table) << table.error().text();
  const auto segments_with = [&](std::string op) {
    const auto graph = ir::parse(
        "graph main(x: f32[4], y: f32[4], z: f32[4]) { a = " + op + "(x) b = " + op + "(y) c = " + op + "(z) return a, b, c }", **table);
    EXPECT_TRUE(graph) << graph.error().text();
    const Named one("one", {"a", "c"}), host("host", {"b"});
    return text_of(**graph, *segments_of(**graph, {&one, &host}));
  };
  EXPECT_EQ(segments_with("Neg"), "one{ a c }( x z -> a c ) b");
  EXPECT_EQ(segments_with("test::Tell"), "one{ a }( x -> a ) b one{ c }( z -> c )");
}

TEST(Partition, NodesThatComputeSizesCanBePinned) {
  const Named one("one", {"a", "h", "b"}), host("host", {"h"});
  const auto graph = graph_of("graph main(x: f32[n]) { a = Exp(x) h = Shape(a) b = Expand(a, h) return b }");
  const backend::Backends backends = {&one, &host};
  const Roles roles(backends, size_t{0});
  Constraints constraints;
  constraints.pins = {{"Shape_1", "one"}};
  ASSERT_TRUE(attach_constraints(*graph, constraints, roles));
  const auto partition = partition::partition(*graph, roles, constraints);
  ASSERT_TRUE(partition);
  EXPECT_EQ(lists_of(*graph, *partition), (std::vector<std::string>{"one: a h b"}));
}

TEST(Partition, ABodyFollowsTheDefinitionOfItsSize) {
  const Named one("one", {"a", "b"}), host("host", {"y", "p", "q"});
  const auto graph = graph_of(R"(graph main(c: bool[], x: f32[n]) {
    a = NonZero(x)
    y = If(c) then_branch={ graph(h) { p = Shape(h) return p } } captures=[x] else_branch={ graph(h) { q = Shape(h) return q } } captures=[x]
    b = Neg(y)
    return a, b
  })");
  const auto segments = [&] { return segments_of(*graph, {&one, &host})->size(); };
  EXPECT_EQ(segments(), 1u);
  ir::Graph& body = graph->body(graph->value(graph->find_value("y")).producer, 0);
  body.set_data(body.find_value("p"), ir::ShapeData{(*graph->value(graph->find_value("a")).type.shape)[1]});
  EXPECT_EQ(segments(), 2u);
}

/// Faster than the host, across a boundary.
class Far final : public backend::Backend {
 public:
  Far(std::set<std::string> nodes, double node, backend::Overheads overheads)
      : nodes_(std::move(nodes)), node_(node), overheads_(overheads) {}
  std::string_view name() const override { return "far"; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    if (nodes_.empty() || nodes_.contains(graph.value(graph.node(node).outputs[0]).name)) return {};
    return fail(Code::not_supported, "", "not one of far");
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return node_; }
  backend::Overheads overheads() const override { return overheads_; }
  Result<backend::Artifact> compile(const backend::CompileRequest&, const backend::Options&) const override { return backend::Blob(); }

 private:
  std::set<std::string> nodes_;
  double node_;
  backend::Overheads overheads_;
};

Partition by_cost(const ir::Graph& graph, const backend::Backends& backends, uint32_t least = 0) {
  const Roles roles(backends, size_t{0});
  Constraints constraints;
  constraints.assign = Assign::cost;
  constraints.min_block_size = least;
  auto partition = partition::partition(graph, roles, constraints);
  EXPECT_TRUE(partition) << partition.error().text();
  return *std::move(partition);
}

TEST(ByCost, ASegmentThatCostsMoreWithItsBordersFallsBack) {
  const auto graph = graph_of("graph main(x: f32[64]) { a = Exp(x) b = Neg(a) c = Abs(b) d = Sqrt(c) return d }");
  const Named host("host", {"a", "b", "c", "d"});  // each takes 1
  const auto backends_of = [&](const Far& far) {
    std::vector<uint16_t> out;
    for (const NodePlacement& n : by_cost(*graph, {&far, &host}).nodes) out.push_back(n.backend);
    return out;
  };
  const backend::Overheads border{.launch_ns = 0.5, .own_memory = true, .copy_ns = 0.4, .copy_ns_per_byte = 0};
  EXPECT_EQ(backends_of(Far({}, 0.1, border)), (std::vector<uint16_t>{0, 0, 0, 0}));  // 0.4 and 1.3 for 4
  EXPECT_EQ(backends_of(Far({"b", "c"}, 0.1, border)), (std::vector<uint16_t>{1, 0, 0, 1}));
  EXPECT_EQ(backends_of(Far({"b"}, 0.1, border)), (std::vector<uint16_t>{1, 1, 1, 1}));  // 0.1 and 0.8 for 1, and it must be started
  const Far far({"b"}, 0.1, border);
  EXPECT_EQ(by_cost(*graph, {&far, &host}).nodes[1].reasons.back().code, "does_not_pay");
  EXPECT_EQ(by_cost(*graph, {&far, &host}, 1).nodes[1].backend, 0) << "a size that is asked for goes before what pays";
}

TEST(Partition, NamesTheReasonsOfAllBackends) {
  const Named one("one", {"a"}), host("host", {"b", "c", "d"});
  const auto graph = graph_of(kDiamond);
  const auto refused = segments_of(*graph, {&one, &host});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::not_supported);
  EXPECT_NE(refused.error()->found.find("one: not one of one; host: not one of host"), std::string::npos) << refused.error().text();
}

/// Random graphs, random shares: every node is in one segment or in none, and after what it needs.
TEST(Partition, OrdersSegmentsOfRandomPlacements) {
  std::mt19937_64 random(7);
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int round = 0; round < 300; ++round) {
    const size_t nodes = 2 + pick(40);
    std::string text = "graph main(v0: f32[n]) { ";
    std::vector<std::string> names[3];
    for (size_t k = 1; k <= nodes; ++k) {
      text += "v" + std::to_string(k) + " = Add(v" + std::to_string(pick(k)) + ", v" + std::to_string(pick(k)) + ") ";
      names[pick(3)].push_back("v" + std::to_string(k));
    }
    const auto graph = graph_of(text + "return v" + std::to_string(nodes) + " }");
    const Named one("one", names[0]), host("host", names[1]), two("two", names[2]);
    const auto segments = segments_of(*graph, {&one, &host, &two});
    ASSERT_TRUE(segments) << segments.error().text();
    const auto units = ir::schedule_units(*graph, *segments);
    ASSERT_TRUE(units) << units.error().text();
    std::set<ir::NodeId> done;
    const auto run = [&](ir::NodeId n) {
      for (ir::ValueId v : graph->node(n).inputs) {
        const ir::NodeId producer = graph->value(v).producer;
        EXPECT_TRUE(!producer || done.contains(producer));
      }
      EXPECT_TRUE(done.insert(n).second);
    };
    for (const ir::ScheduleUnit& unit : *units)
      if (unit.segment) std::ranges::for_each(unit.segment->nodes, run);
      else run(unit.node);
    EXPECT_EQ(done.size(), nodes);
  }
}

}  // namespace
}  // namespace tenon::partition
