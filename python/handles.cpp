// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

namespace tenon::python {

void raise(const Error& error) {
  const nb::object type = nb::module_::import_("tenon").attr("TenonError");
  const auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
  const nb::object made = type(text(name_of(error->code)), text(error->place), text(error->what), text(error->expected), text(error->found),
                               text(error->advice));
  PyErr_SetObject(type.ptr(), made.ptr());
  throw nb::python_error();
}

ir::Graph& PyGraph::get() const {
  if (root_->owner != std::thread::id() && root_->owner != std::this_thread::get_id())
    raise(fail(Code::bad_usage, "graph", "another thread is working on this graph").advice("give each thread a clone of its own"));
  if (!outer_) return *root_->graph;
  ir::Graph& graph = outer_->get();
  if (!graph.alive(node_) || graph.node(node_).bodies.size() <= index_)
    raise(fail(Code::bad_usage, "graph", "the node that this body belonged to is gone"));
  return graph.body(node_, index_);
}

ir::Graph& PyGraph::edit() const {
  ir::Graph& graph = get();
  if (root_->rewriting && root_->open != &graph)
    raise(fail(Code::bad_usage, "graph", "the graph must not be changed here")
              .expected("changes in rewrite or match_and_rewrite, to the graph that is being rewritten")
              .advice("match and every kind of callback may only look"));
  return graph;
}

ir::Graph& PyGraph::restructure() const {
  if (root_->rewriting)
    raise(fail(Code::bad_usage, "graph", "this change cannot be taken back, so it is not allowed while rules run")
              .advice("replace values and let the driver remove what nobody uses"));
  return get();
}

namespace {

template <class Id>
void check(const Ref<Id>& ref, const char* what) {
  if (!ref.graph->get().alive(ref.id)) raise(fail(Code::bad_usage, what, std::string("this ") + what + " is gone from its graph"));
}

template <class Id>
Id checked(const PyGraph& graph, const Ref<Id>& ref, const char* what) {
  check(ref, what);
  if (!graph.same(*ref.graph)) raise(fail(Code::bad_usage, what, std::string("this ") + what + " belongs to another graph"));
  return ref.id;
}

}  // namespace

const ir::Node& resolve(const NodeRef& node) {
  check(node, "node");
  return node.graph->get().node(node.id);
}

const ir::Value& resolve(const ValueRef& value) {
  check(value, "value");
  return value.graph->get().value(value.id);
}

ir::NodeId id_in(const PyGraph& graph, const NodeRef& node) { return checked(graph, node, "node"); }
ir::ValueId id_in(const PyGraph& graph, const ValueRef& value) { return checked(graph, value, "value"); }

ir::ValueId operand_in(const PyGraph& graph, nb::handle value) {
  if (value.is_none()) return {};
  ValueRef* ref = nullptr;
  if (!nb::try_cast(value, ref) || !ref)
    raise(fail(Code::bad_usage, "operand", "this is no value of a graph")
              .expected("tenon.rewriting.Value or None")
              .found(nb::type_name(value.type()).c_str()));
  return id_in(graph, *ref);
}

const std::string& ensure_name(const ValueRef& value) {
  if (resolve(value).name.empty()) {
    ir::Graph& g = value.graph->get();
    const ir::Node* producer = resolve(value).producer ? &g.node(resolve(value).producer) : nullptr;
    g.set_name(value.id, g.unique_name(producer ? producer->op->name : "constant"));
  }
  return resolve(value).name;
}

nb::object object_of(const GraphPtr& graph, ir::ValueId value) { return value ? nb::cast(ValueRef{graph, value}) : nb::none(); }
nb::object object_of(const GraphPtr& graph, ir::NodeId node) { return node ? nb::cast(NodeRef{graph, node}) : nb::none(); }

PyReference hold(nb::object object) {
  return PyReference(new nb::object(std::move(object)), [](nb::object* held) {
    const nb::gil_scoped_acquire acquired;
    delete held;
  });
}

}  // namespace tenon::python
