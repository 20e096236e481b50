// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>

#include "named.h"
#include "partition/retype.h"

/// Backends that lack element types, for the tests of who gets Casts.
namespace tenon::partition {

/// Takes all ops but some, on all types but some. `host` is the host backend.
class Lacking final : public backend::Backend {
 public:
  Lacking(std::string name, std::set<DType> types, std::set<std::string> ops = {})
      : name_(std::move(name)), types_(std::move(types)), ops_(std::move(ops)) {}
  std::string_view name() const override { return name_; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    ++asked;
    const ir::Node& n = graph.node(node);
    if (ops_.contains(n.op->name)) return fail(Code::not_supported, "", "no " + n.op->name);
    for (const auto* values : {&n.inputs, &n.outputs})
      for (ir::ValueId v : *values)
        if (v && types_.contains(graph.value(v).type.dtype))
          return fail(Code::not_supported, "", "no " + std::string(tenon::name_of(graph.value(v).type.dtype)));
    return {};
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return name_ == "host" ? 10 : name_ == "dear" ? 100 : 1; }
  bool is_host() const override { return name_ == "host"; }
  Result<backend::Artifact> compile(const backend::CompileRequest&, const backend::Options&) const override { return backend::Blob(); }

  mutable int asked = 0;

 private:
  std::string name_;
  std::set<DType> types_;
  std::set<std::string> ops_;
};

struct Outcome {
  std::unique_ptr<ir::Graph> graph;
  Partition partition;
  std::string text;  ///< segments in their order: "acc: a(f16) a.f32 ..."
  NodePlacement node(std::string_view name) const {
    const auto found = std::ranges::find(partition.nodes, name, &NodePlacement::name);
    EXPECT_NE(found, partition.nodes.end()) << name << " in " << text;
    return found == partition.nodes.end() ? NodePlacement{.node = {}, .name = {}, .reasons = {{}}, .choices = {}, .bodies = {}} : *found;
  }
};

inline std::string text_of(const ir::Graph& graph, const Partition& partition) {
  std::string out;
  for (const ir::Segment& s : partition.segments) {
    out += (out.empty() ? "" : " | ") + s.backend + ":";
    for (ir::NodeId n : s.nodes) {
      const ir::Value& v = graph.value(graph.node(n).outputs[0]);
      out += " " + (graph.node(n).is("Cast") ? "Cast" : graph.node(n).op->name) + "(" + std::string(tenon::name_of(v.type.dtype)) + ")";
    }
  }
  return out;
}

inline Outcome partitioned(std::string_view text, const backend::Backends& backends, Constraints constraints = {}) {
  Outcome out;
  out.graph = graph_of(text);
  const Roles roles(backends, size_t{0});
  if (auto bound = attach_constraints(*out.graph, constraints, roles); !bound) {
    out.text = bound.error().text();
    return out;
  }
  auto partition = partition_with_casts(out.graph, roles, constraints);
  if (!partition) {
    out.text = partition.error().text();
    return out;
  }
  out.partition = *std::move(partition);
  out.text = text_of(*out.graph, out.partition);
  return out;
}

inline std::vector<std::string> codes_of(const NodePlacement& placement) {
  std::vector<std::string> out;
  for (const Reason& r : placement.reasons) out.push_back(r.code + ": " + r.text);
  return out;
}
using Lines = std::vector<std::string>;

inline const Lacking kHost("host", {});

}  // namespace tenon::partition
