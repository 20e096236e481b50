// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ir/text.h"
#include "ops/core/op.h"
#include "partition/partition.h"

namespace tenon::partition {

/// Takes the nodes whose first results have some names. The one called `host` is the host backend.
class Named final : public backend::Backend {
 public:
  Named(std::string name, std::vector<std::string> nodes) : name_(std::move(name)), nodes_(std::move(nodes)) {}
  std::string_view name() const override { return name_; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    if (std::ranges::count(nodes_, graph.value(graph.node(node).outputs[0]).name) > 0) return {};
    return fail(Code::not_supported, "", "not one of " + name_);
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
  bool is_host() const override { return name_ == "host"; }
  Result<backend::Artifact> compile(const backend::CompileRequest&, const backend::Options&) const override { return backend::Blob(); }

 private:
  std::string name_;
  std::vector<std::string> nodes_;
};

inline std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  return std::move(*graph);
}

/// The names of first results, segment by segment in the order of running, after the backend: "acc: a b", "host: c".
inline std::vector<std::string> lists_of(const ir::Graph& graph, const Partition& partition) {
  std::vector<std::string> out;
  for (const ir::Segment& s : partition.segments) {
    out.push_back(s.backend + ":");
    for (ir::NodeId n : s.nodes) out.back() += " " + graph.value(graph.node(n).outputs[0]).name;
  }
  return out;
}

/// First results of all nodes but those of some names.
inline std::vector<std::string> all_but(const ir::Graph& graph, const std::vector<std::string>& names = {}) {
  std::vector<std::string> out;
  for (ir::NodeId n : graph.nodes())
    if (const std::string& name = graph.value(graph.node(n).outputs[0]).name; std::ranges::count(names, name) == 0) out.push_back(name);
  return out;
}

/// `acc` runs the nodes of some names, `host` any.
struct TwoBackends {
  TwoBackends(const ir::Graph& graph, std::vector<std::string> accelerated)
      : acc("acc", std::move(accelerated)), host("host", all_but(graph)) {}
  Named acc, host;
  backend::Backends all{&acc, &host};
  Roles roles{all, size_t{0}};
};

}  // namespace tenon::partition
