// SPDX-License-Identifier: Apache-2.0
// New nodes from the arguments of Graph.insert and Rewriter.op.
#include "new_node.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <span>

#include "convert.h"
#include "ops/core/op.h"
#include "ops/core/schema.h"

namespace tenon::python {
namespace {

std::vector<ir::ValueId> values_before(const PyGraph& graph, nb::handle values, ir::NodeId place) {
  std::vector<ir::ValueId> out;
  for (nb::handle value : values) {
    out.push_back(operand_in(graph, value));
    if (out.back() && !graph.get().is_defined_before(out.back(), place))
      raise(fail(Code::bad_graph, graph.get().value(out.back()).name, "this operand comes after the place where the node is inserted")
                .advice("insert the node later"));
  }
  return out;
}

struct NewBody {
  std::string name;
  std::unique_ptr<ir::Graph> graph;
  std::vector<ir::ValueId> captures;
};

NewBody body_of(const PyGraph& graph, std::string name, nb::handle bodies, ir::NodeId place) {
  const bool alone = nb::isinstance<PyGraph>(bodies);
  if (!alone && !(PyTuple_Check(bodies.ptr()) && PyTuple_Size(bodies.ptr()) == 2 && nb::isinstance<PyGraph>(bodies[0])))
    raise(fail(Code::bad_usage, "body '" + name + "'", "this is no body")
              .expected("a Graph, or a Graph and the values of its last inputs")
              .found(nb::type_name(bodies.type()).c_str()));
  const nb::object source = alone ? nb::borrow(bodies) : nb::object(bodies[0]);
  NewBody out{std::move(name), nb::cast<const PyGraph&>(source).get().clone_body(graph.get()), {}};
  if (!alone) out.captures = values_before(graph, nb::object(bodies[1]), place);
  if (out.captures.size() > out.graph->inputs().size() || std::ranges::find(out.captures, ir::ValueId{}) != out.captures.end())
    raise(fail(Code::bad_usage, "body '" + out.name + "'", "the body has fewer inputs than values are given for them, or one is None")
              .expected(std::to_string(out.graph->inputs().size()) + " at most")
              .found(std::to_string(out.captures.size())));
  return out;
}

/// Which places bodies have among those of a node; an unknown op takes any, in the order of the call.
std::vector<std::string_view> body_names(const ir::Op& op) {
  std::vector<std::string_view> out;
  for (const ops::AttributeSpec& spec : ops::attribute_specs(ops::def_of(op)))
    if (spec.kind == ops::AttributeSpec::Kind::graph) out.push_back(spec.name);
  return out;
}

/// In the order of the op's schema.
std::vector<NewBody> bodies_of(const PyGraph& graph, const ir::Op& op, nb::handle bodies, ir::NodeId place) {
  std::vector<NewBody> out;
  for (auto [name, body] : nb::cast<nb::dict>(bodies)) out.push_back(body_of(graph, nb::cast<std::string>(name), body, place));
  if (op.unknown) return out;
  const std::vector<std::string_view> known = body_names(op);
  const auto place_of = [&](const NewBody& b) { return std::ranges::find(known, b.name) - known.begin(); };
  for (const NewBody& b : out)
    if (place_of(b) == std::ssize(known)) raise(fail(Code::bad_attribute, op.name, "a body that the op does not have").found(b.name));
  std::ranges::sort(out, {}, place_of);
  return out;
}

/// A node whose bodies are missing has nothing that inference could look at.
void check_bodies(const ir::Op& op, const std::vector<NewBody>& bodies) {
  if (op.unknown) return;
  for (const ops::AttributeSpec& spec : ops::attribute_specs(ops::def_of(op)))
    if (spec.kind == ops::AttributeSpec::Kind::graph && spec.required &&
        std::ranges::find(bodies, spec.name, &NewBody::name) == bodies.end())
      raise(fail(Code::bad_attribute, op.name, "body '" + std::string(spec.name) + "' is missing")
                .expected("a graph in bodies")
                .found("none"));
}

size_t result_count(const ir::Graph& g, const ir::Op& op, std::span<const ir::ValueId> operands, const ir::Attributes& attributes,
                    const std::vector<NewBody>& bodies, const NewNode& wanted) {
  ir::NodeView view = g.view(op, operands, attributes);
  for (const NewBody& b : bodies) view.bodies.push_back(b.graph.get());
  const size_t results = wanted.outputs >= 0 ? static_cast<size_t>(wanted.outputs) : op.result_count(view);
  return std::max({results, wanted.names.size(), static_cast<size_t>(op.min_outputs)});
}

void name_results(ir::Graph& g, ir::NodeId node, const ResultNames& names) {
  const std::vector<ir::ValueId> results = g.node(node).outputs;
  for (size_t k = 0; k < names.size(); ++k) {
    if (!names[k]) g.drop_result(node, static_cast<uint32_t>(k), /*keep_slot=*/true);
    else if (!names[k]->empty()) g.set_name(results[k], *names[k]);
  }
}

}  // namespace

ir::NodeId make_node(const PyGraph& graph, const NewNode& wanted, ir::NodeId place) {
  ir::Graph& g = graph.edit();
  const ir::Op& op = op_named(g.ops(), wanted.op_type, wanted.domain);
  const std::vector<ir::ValueId> operands = values_before(graph, wanted.inputs, place);
  const ir::Attributes attributes = attributes_of(op, nb::cast<nb::dict>(wanted.attributes));
  std::vector<NewBody> bodies = bodies_of(graph, op, wanted.bodies, place);
  if (wanted.infer) check_bodies(op, bodies);
  const ir::NodeId node = g.insert(op, operands, result_count(g, op, operands, attributes, bodies, wanted), attributes, place);
  for (NewBody& b : bodies) g.attach_body(node, std::move(b.name), std::move(b.graph), b.captures);
  if (Result<void> inferred = wanted.infer ? ir::infer(g, node) : Result<void>(); !inferred) {
    g.erase(node);
    raise(inferred.error());
  }
  name_results(g, node, wanted.names);
  return node;
}

}  // namespace tenon::python
