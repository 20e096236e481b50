// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace tenon::python {

namespace nb = nanobind;

/// tenon.TenonError with the error's parts as attributes.
[[noreturn]] void raise(const Error& error);

template <class T>
T unwrap(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// A root graph, and the thread and rewrite that use it now.
struct Root {
  std::unique_ptr<ir::Graph> graph;
  std::thread::id owner;            ///< the thread that uses it without the GIL; none: no thread does
  bool rewriting = false;           ///< a run of the driver is in progress: only rewrites may edit, and only by logged edits
  const ir::Graph* open = nullptr;  ///< the graph that a rewrite may edit now
};

/// A root graph, or the body of a node of another handle's graph. Looked up at each use, so that a handle on a body whose
/// node is gone raises instead of dangling.
class PyGraph {
 public:
  explicit PyGraph(std::unique_ptr<ir::Graph> graph) : root_(std::make_shared<Root>()) { root_->graph = std::move(graph); }
  PyGraph(std::shared_ptr<PyGraph> outer, ir::NodeId node, size_t index)
      : root_(outer->root_), outer_(std::move(outer)), node_(node), index_(index) {}

  Root& root() const { return *root_; }
  const std::shared_ptr<PyGraph>& outer() const { return outer_; }
  /// The graph. Raises where another thread uses it, or where this is a body whose node was erased.
  ir::Graph& get() const;
  /// The graph, for edits that a journal logs. Raises during a run of the driver, except for the graph that the current rewrite may edit.
  ir::Graph& edit() const;
  /// The graph, for edits that no journal logs. Raises during a run of the driver.
  ir::Graph& restructure() const;
  bool same(const PyGraph& other) const { return root_ == other.root_ && &get() == &other.get(); }

 private:
  std::shared_ptr<Root> root_;
  std::shared_ptr<PyGraph> outer_;
  ir::NodeId node_;
  size_t index_ = 0;
};
using GraphPtr = std::shared_ptr<PyGraph>;

/// In its scope (a call without the GIL) the calling thread owns the graph: other threads that use it get an error.
class GraphOwnerScope {
 public:
  explicit GraphOwnerScope(Root& root) : root_(root), before_(root.owner) { root_.owner = std::this_thread::get_id(); }
  ~GraphOwnerScope() { root_.owner = before_; }
  GraphOwnerScope(const GraphOwnerScope&) = delete;

 private:
  Root& root_;
  std::thread::id before_;
};

/// A handle of a node or value of a graph. Every use checks that it still exists.
template <class Id>
struct Ref {
  GraphPtr graph;
  Id id;
  bool alive() const { return graph->get().alive(id); }
  friend bool operator==(const Ref& a, const Ref& b) { return a.id == b.id && a.graph->same(*b.graph); }
};
using NodeRef = Ref<ir::NodeId>;
using ValueRef = Ref<ir::ValueId>;

/// The node or value that a handle names. Raises where it is gone.
const ir::Node& resolve(const NodeRef& node);
const ir::Value& resolve(const ValueRef& value);
/// The id for an edit of `graph`. Raises where the handle is stale or belongs to another graph.
ir::NodeId id_in(const PyGraph& graph, const NodeRef& node);
ir::ValueId id_in(const PyGraph& graph, const ValueRef& value);
/// The value of a handle in `graph`, as an operand; None gives a missing operand.
ir::ValueId operand_in(const PyGraph& graph, nb::handle value);

/// The name of a value; a value without a name gets a new unique one.
const std::string& ensure_name(const ValueRef& value);
nb::object object_of(const GraphPtr& graph, ir::ValueId value);
nb::object object_of(const GraphPtr& graph, ir::NodeId node);
template <class Ids>
nb::list list_of(const GraphPtr& graph, const Ids& ids) {
  nb::list out;
  for (auto id : ids) out.append(object_of(graph, id));
  return out;
}

/// Whether a value follows from constants alone, and its array (None where it does not). Bodies and random ops do not count.
bool is_computable(const ValueRef& value);
nb::object computed(const ValueRef& value);

/// A reference to a Python object that may be released on any thread: it acquires the GIL.
using PyReference = std::shared_ptr<nb::object>;
PyReference hold(nb::object object);

void bind_graph(nb::module_& m);
void bind_graph_edits(nb::class_<PyGraph>& graph);
void bind_nodes(nb::module_& m);
void bind_rules(nb::module_& m);
void bind_rewrite(nb::module_& m);
void bind_why(nb::module_& m);

}  // namespace tenon::python
