// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "backend/backend.h"
#include "second_device.h"

namespace tenon::tests {

/// Which nodes a backend takes.
using Takes = std::function<bool(const ir::Graph& graph, ir::NodeId node)>;
/// Of all nodes about so many percent: the same in each build of one graph.
Takes random_share(uint64_t seed, unsigned percent);
/// The name of a node's first result; empty: rewriting made it, without one.
std::string result_name(const ir::Graph& graph, ir::NodeId node);
/// Whether kernels of a segment run the node. Errors: not_supported with the reason.
Result<void> check_kernel_node(const ir::Graph& graph, ir::NodeId node);

/// `second`: a kernel backend. It plans, lowers and links its segments for x86_avx2 and brings program and code in its blobs; its device
/// has an arena that the host cannot access outside of runs.
class Second final : public backend::Backend {
 public:
  explicit Second(Takes takes = [](const ir::Graph&, ir::NodeId) { return true; }) : takes_(std::move(takes)) {}
  std::string_view name() const override { return "second"; }
  std::string_view docs() const override { return "kernels for AVX2 on an arena of their own: for tests"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override;
  double cost(const ir::Graph& graph, ir::NodeId node) const override;
  backend::Overheads overheads() const override {
    return {.launch_ns = 2000, .own_memory = true, .copy_ns = 1000, .copy_ns_per_byte = 0.1};
  }
  const codegen::Target* kernel_target() const override;
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override;

  /// Results of all nodes that it has compiled.
  std::set<std::string> compiled() const;

 private:
  Takes takes_;
  mutable std::mutex lock_;
  mutable std::set<std::string> compiled_;
};

}  // namespace tenon::tests
