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

/// One call of tenon.rewriting.rewrite: what its callbacks share. Rules find it as the driver's args.
class Context {
 public:
  Context(GraphPtr graph, nb::object args) : graph_(std::move(graph)), args(std::move(args)) { known_.push_back(graph_); }

  /// The handle of the graph, or of the body inside it, that the driver is at.
  GraphPtr of(const ir::Graph& graph);
  /// A reason that lives as long as the run.
  std::string_view keep(std::string reason) { return *reasons_.insert(std::move(reason)).first; }

  /// Books what a callback has raised and rethrows it as an error of the driver. Acquires the GIL.
  [[noreturn]] void failed(const std::string& rule, nb::python_error& error);
  bool interrupted() const { return interrupted_; }
  /// Raises the last that was booked, if any was.
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

/// A match as Python sees it: only while its callback runs.
struct PyMatch {
  const rewrite::Match* match = nullptr;
  rewrite::Match* open = nullptr;  ///< null: it is decided
  Context* context = nullptr;
  GraphPtr graph;
  const rewrite::Match& get() const;
  rewrite::Match& deciding() const;
};

struct PyRewriter {
  rewrite::Rewriter* rewriter = nullptr;
  GraphPtr graph;
  rewrite::Rewriter& get() const;
};

/// For the time of a run the graph takes no edit but those of rewrites. Raises bad_usage where one is going on.
struct Rewriting {
  explicit Rewriting(Root& root);
  ~Rewriting() { root.rewriting = false; }
  Rewriting(const Rewriting&) = delete;
  Root& root;
};

nb::dict dict_of(const rewrite::Statistics& statistics);
void bind_match(nb::module_& m);

}  // namespace tenon::python
