// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "second.h"

namespace tenon::tests {

/// What `second` is compared with: takes the same nodes, but cpu compiles each of its segments for x86_avx2 as a graph of its own, and an
/// ordinary engine in host memory runs it.
class Twin final : public backend::Backend {
 public:
  explicit Twin(Takes takes) : takes_(std::move(takes)) {}
  std::string_view name() const override { return "twin"; }
  std::string_view docs() const override { return "cpu at the borders of second: for tests"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override;
  double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override;

  /// Runs what this backend has compiled in this process.
  std::shared_ptr<const runtime::Device> device() const;

 private:
  using Engines = std::vector<std::shared_ptr<runtime::Engine>>;
  Takes takes_;
  std::shared_ptr<Engines> engines_ = std::make_shared<Engines>();  ///< of the blobs, by the numbers that these hold
};

/// cpu, which notes what it compiles.
class NotedHost final : public backend::Backend {
 public:
  explicit NotedHost(const backend::Backend& cpu) : cpu_(cpu) {}
  std::string_view name() const override { return cpu_.name(); }
  std::string_view docs() const override { return cpu_.docs(); }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override { return cpu_.supports(graph, node); }
  double cost(const ir::Graph& graph, ir::NodeId node) const override { return cpu_.cost(graph, node); }
  Result<void> prepare(ir::Graph& graph) const override { return cpu_.prepare(graph); }
  bool is_host() const override { return true; }
  bool is_default() const override { return true; }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override;

  /// Results of the nodes that it has compiled: those in no segment of another backend.
  const std::set<std::string>& compiled() const { return compiled_; }

 private:
  const backend::Backend& cpu_;
  mutable std::set<std::string> compiled_;
};

}  // namespace tenon::tests
