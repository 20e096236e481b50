// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrite_and_partition.h"

#include "codegen/analysis/attention.h"
#include "compiler/backends.h"
#include "compiler/unknown_ops.h"
#include "ir/port_names.h"
#include "partition/own_dequantize.h"
#include "partition/retype.h"
#include "passes/pipeline.h"

namespace tenon::compiler {

namespace {

Result<void> check_input_types(const ir::Graph& graph) {
  for (const ir::ValueId id : graph.inputs())
    if (const ir::Value& v = graph.value(id); v.type.dtype == DType::none)
      return fail(Code::bad_graph, "input '" + v.name + "'", "the input has no element type")
          .expected("a type: f32, i64, ...")
          .found(v.type.text());
  return {};
}

/// The bytes of every weight are there.
Result<void> check_complete(const ir::Graph& graph) {
  for (const ir::ValueId id : graph.values()) {
    const ir::Value& v = graph.value(id);
    const auto* bytes = v.is_constant() ? v.constant->unread() : nullptr;
    if (bytes)
      return fail(Code::file_missing, "constant '" + v.name + "'",
                  "its bytes were not read: the model was imported with its weights by reference")
          .expected("a model with its weights")
          .found("a place in file '" + bytes->location + "'");
  }
  for (const ir::NodeId id : graph.nodes())
    for (const ir::Body& body : graph.node(id).bodies) TRY(check_complete(*body.graph));
  return {};
}

/// Whether the backend that makes kernels takes every node that it supports: it is the first one, and assignment is not by cost.
bool runs_kernels_first(const BackendsInUse& backends, const partition::Constraints& constraints) {
  return backends.all[0]->is_host() && constraints.assign == partition::Assign::priority;
}

Result<void> check_precision(const CompileOptions& options) {
  if (options.precision == codegen::Precision::f32 && options.activations == codegen::Activations::f32) return {};
  const codegen::Target& target = options.target ? *options.target : *TRY(codegen::target_for());
  TRY(codegen::check_precision(options.precision, target));
  return codegen::check_activations(options.activations, target);
}

partition::Constraints constraints_of(const CompileOptions& options) {
  partition::Constraints out = options.constraints;
  if (options.backends.empty()) out.listed = 1;
  return out;
}

}  // namespace

Result<PartitionedGraph> rewrite_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options) {
  TRY(check_precision(options));
  TRY(ir::check_port_names(*graph));
  TRY(check_input_types(*graph));
  TRY(check_complete(*graph));
  PartitionedGraph out;
  out.graph = std::move(graph);
  out.nodes_before = out.graph->node_count();
  out.backends.all = options.backends.empty() ? TRY((options.registry ? *options.registry : default_registry()).named()) : options.backends;
  TRY(check_unknown_ops(*out.graph, out.backends.all));
  const partition::Constraints constraints = constraints_of(options);
  out.backends.listed = partition::Roles(out.backends.all, constraints).listed;
  passes::Options rewriting;
  rewriting.verify = options.verify;
  rewriting.level = options.opt;
  rewriting.disabled = options.off;
  if (runs_kernels_first(out.backends, constraints)) rewriting.packs = codegen::attention_fits;
  else rewriting.disabled.insert({"fuse/integer_products", "fuse/grouped_weights"});  // other runtimes have quantized products
  TRY(partition::attach_constraints(*out.graph, constraints, out.backends.roles()));
  TRY(passes::optimise(*out.graph, rewriting));
  return out;
}

Result<void> partition_rewritten(PartitionedGraph& graph, const CompileOptions& options) {
  const partition::Constraints constraints = constraints_of(options);
  TRY(partition::prepare(*graph.graph, graph.backends.all));
  if (!runs_kernels_first(graph.backends, constraints)) partition::copy_dequantize_to_readers(*graph.graph);
  graph.partition = TRY(partition::partition_with_casts(graph.graph, graph.backends.roles(), constraints, {}, &graph.without_casts));
  return {};
}

Result<PartitionedGraph> rewrite_and_partition(std::unique_ptr<ir::Graph> graph, const CompileOptions& options) {
  PartitionedGraph out = TRY(rewrite_graph(std::move(graph), options));
  TRY(partition_rewritten(out, options));
  return out;
}

}  // namespace tenon::compiler
