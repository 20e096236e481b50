// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/backend.h"
#include "backend/work.h"
#include "codegen/collect/role.h"
#include "codegen/tile/scalar.h"

namespace tenon::backends {

namespace {

/// A result that is an input or a constant is copied, and kernels copy only what they can compute with: the rest passes an Identity.
Result<void> own_results(ir::Graph& graph) {
  for (uint32_t slot = 0; slot < graph.outputs().size(); ++slot) {
    const ir::ValueId v = graph.outputs()[slot];
    const ir::Value& value = graph.value(v);
    const DType d = value.type.dtype;
    const bool narrow = d == DType::string || is_complex(d) || bits_of(d) < 8 || (is_float(d) && !codegen::is_tile_element(d));
    if (!narrow || value.type.kind != ir::Type::Kind::tensor) continue;
    const auto before = graph.outputs().first(slot);
    const bool own = value.kind == ir::Value::Kind::result && !value.constant && std::find(before.begin(), before.end(), v) == before.end();
    if (own) continue;
    const ir::NodeId node = graph.insert(*graph.ops().find("", "Identity"), {v}, 1);
    TRY(ir::infer(graph, node));
    graph.set_output(slot, graph.node(node).outputs[0]);
  }
  return {};
}

class Cpu final : public backend::Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string_view docs() const override { return "kernels generated for this CPU, or for the one that --target names"; }

  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    TRY(codegen::role_of(graph, node));
    return {};
  }

  /// Some 16 multiply-adds and 10 bytes of memory a nanosecond, of a core of 2020.
  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const backend::Work work = backend::work_of(graph, node);
    return std::max(work.steps / 16, work.bytes / 10);
  }

  Result<void> prepare(ir::Graph& graph) const override { return own_results(graph); }
  bool is_host() const override { return true; }
  bool is_default() const override { return true; }

  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    return TRY(backend::make_kernels(request, options, *options.target));
  }
};

}  // namespace

BACKEND(cpu) { return std::make_unique<Cpu>(); }

}  // namespace tenon::backends
