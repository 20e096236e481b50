// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "handles.h"
#include "rewrite/driver/driver.h"

namespace tenon::python {

/// The state of one call of tenon.rewriting.rewrite that its callbacks share; rules get it as Match::args.
class Context {
 public:
  Context(GraphPtr graph, nb::object args) : graph_(std::move(graph)), args(std::move(args)) { known_.push_back(graph_); }

  /// The handle of the graph, or of a body in it, that the driver rewrites now.
  GraphPtr of(const ir::Graph& graph);
  /// Stores a reason for the time of the run.
  std::string_view keep(std::string reason) { return *reasons_.insert(std::move(reason)).first; }

  /// Stores the exception of a callback, and throws it as an error of the driver. Acquires the GIL.
  [[noreturn]] void failed(const std::string& rule, nb::python_error& error);
  bool interrupted() const { return interrupted_; }
  /// Raises the last stored exception, if there is one.
  void raise_errors() const;
  Root& root() const { return graph_->root(); }

 private:
  GraphPtr graph_;
  std::vector<GraphPtr> known_;
  std::set<std::string, std::less<>> reasons_;
  bool interrupted_ = false;

 public:
  nb::object args;
  std::vector<std::pair<std::string, nb::object>> errors;  ///< rule, exception
};

Context& context_of(const std::any* args);

/// A match for a Python callback; valid only while the callback runs.
struct PyMatch {
  const rewrite::Match* match = nullptr;
  rewrite::Match* open = nullptr;  ///< the match while it may still be changed; null: it is decided
  Context* context = nullptr;
  GraphPtr graph;
  const rewrite::Match& get() const;
  /// The match, to be changed. Raises where it is decided.
  rewrite::Match& deciding() const;
};

struct PyRewriter {
  rewrite::Rewriter* rewriter = nullptr;
  GraphPtr graph;
  rewrite::Rewriter& get() const;
};

/// In its scope (a run of the driver) only rewrites may edit the graph. Raises bad_usage where a run is in progress already.
struct RewritingScope {
  explicit RewritingScope(Root& root);
  ~RewritingScope() { root.rewriting = false; }
  RewritingScope(const RewritingScope&) = delete;
  Root& root;
};

nb::dict dict_of(const rewrite::Statistics& statistics);
void bind_match(nb::module_& m);

}  // namespace tenon::python
