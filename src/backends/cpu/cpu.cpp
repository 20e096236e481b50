// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/backend.h"
#include "backend/work.h"
#include "codegen/collect/role.h"
#include "codegen/tile/scalar.h"

namespace tenon::backends {

namespace {

/// A graph result that is also an input, a constant or an earlier result is copied. Kernels do not copy strings, complex numbers and other
/// elements without a scalar type in generated code: such a result becomes that of an Identity node.
Result<void> add_identities(ir::Graph& graph) {
  for (uint32_t slot = 0; slot < graph.outputs().size(); ++slot) {
    const ir::ValueId v = graph.outputs()[slot];
    const ir::Value& value = graph.value(v);
    const DType d = value.type.dtype;
    const bool needs_identity = d == DType::string || is_complex(d) || bits_of(d) < 8 || (is_float(d) && !codegen::is_tile_element(d));
    if (!needs_identity || value.type.kind != ir::Type::Kind::tensor) continue;
    const auto before = graph.outputs().first(slot);
    const bool is_computed =
        value.kind == ir::Value::Kind::result && !value.constant && std::find(before.begin(), before.end(), v) == before.end();
    if (is_computed) continue;
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

  /// A core of 2020 does about 16 multiply-adds in a nanosecond, or transfers 10 bytes.
  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const backend::Work work = backend::work_of(graph, node);
    return std::max(work.steps / 16, work.bytes / 10);
  }

  Result<void> prepare(ir::Graph& graph) const override { return add_identities(graph); }
  bool is_host() const override { return true; }
  bool is_default() const override { return true; }

  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    return TRY(backend::make_kernels(request, options, *options.target));
  }
};

}  // namespace

BACKEND(cpu) { return std::make_unique<Cpu>(); }

}  // namespace tenon::backends
