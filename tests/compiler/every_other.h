// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "backends/reference/device/reference.h"
#include "compiler/backends.h"

/// Backends that take some nodes: of one that takes more.
namespace tenon::tests {

class Some final : public backend::Backend {
 public:
  using Takes = std::function<bool(const ir::Graph& graph, ir::NodeId node)>;
  Some(std::string name, const backend::Backend& base, Takes takes) : name_(std::move(name)), base_(base), takes_(std::move(takes)) {}
  std::string_view name() const override { return name_; }
  std::string_view docs() const override { return base_.docs(); }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    if (takes_(graph, node)) return base_.supports(graph, node);
    return fail(Code::not_supported, graph.view(node).where(), "it is not among those that it takes");
  }
  double cost(const ir::Graph& graph, ir::NodeId node) const override { return base_.cost(graph, node); }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    return base_.compile(request, options);
  }

 private:
  std::string name_;
  const backend::Backend& base_;
  Takes takes_;
};

/// The reference device under another name.
class Renamed final : public runtime::Device {
 public:
  explicit Renamed(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    return backends::reference::device()->make(blob);
  }

 private:
  std::string name_;
};

/// "every_other": half of the nodes, by where they stand in the graph's memory, run by reference; the rest on cpu.
inline backend::Backends every_other() {
  static const backend::Backends all = *compiler::backends_named();
  static const Some other("every_other", *all.back(),
                          [](const ir::Graph&, ir::NodeId n) { return (n.slot() * 2654435761u >> 16) % 2 == 1; });
  return {&other, all[0], all[1]};
}
inline runtime::Devices every_other_device() { return {std::make_shared<Renamed>("every_other")}; }

}  // namespace tenon::tests
