// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/evaluated_graphs.h"
#include "ops/plugin/plugin_functions.h"
#include "ops/plugin/plugin_op.h"
#include "ops/reference/elements.h"
#include "plugin/layout/formats.h"
#include "plugin/run/runner.h"

namespace tenon::ops {

namespace {

/// The operands converted to the dtypes that the plugin declares.
Result<std::vector<Tensor>> operands_of(const Call& call) {
  std::vector<Tensor> out(call.in.size());
  for (size_t k = 0; k < out.size(); ++k)
    if (call.has(k)) out[k] = TRY(converted(*call.in[k], call.view.inputs[k].type.dtype));
  return out;
}

Result<plugin::Layouts> layouts_of(const Call& call, const plugin::Object& object) {
  const auto port_type = [](const ir::Type& type) { return plugin::PortType{type.dtype, type.has_rank() ? type.rank() : -1}; };
  std::vector<plugin::PortType> port_types;
  for (size_t k = 0; k < call.in.size(); ++k) port_types.push_back(call.has(k) ? port_type(call.view.type(k)) : plugin::PortType());
  for (const ir::Type& type : call.view.outputs) port_types.push_back(port_type(type));
  return TRY(plugin::formats_of(object, port_types, call.in.size(), 1))[0];
}

}  // namespace

Result<void> run_plugin(Call& call) {
  const plugin::Op& op = plugin_of(*call.view.op)->op();
  std::vector<DType> dtypes;
  for (const ir::Type& type : call.view.outputs) dtypes.push_back(type.dtype);
  const std::shared_ptr<const plugin::Object> object = TRY(object_of(call.view, op));
  const auto graphs =
      TRY(EvaluatedGraphs::make(TRY(added_graphs_of(call.view, *object)), *call.view.ops, call.view.where() + ", " + op.place()));
  const auto runner = TRY(plugin::Runner::make(object, call.in.size(), dtypes, TRY(layouts_of(call, *object))));
  runner->set_graphs(graphs.get());
  const std::vector<Tensor> operands = TRY(operands_of(call));
  std::vector<Tensor> results(dtypes.size());
  for (size_t k = 0; k < results.size(); ++k) {
    const ir::Type& type = call.view.outputs[k];
    if (!type.is_static()) continue;
    Sizes sizes;
    for (Dim d : *type.shape) sizes.push_back(d.value());
    results[k] = TRY(Tensor::make(dtypes[k], std::move(sizes), call.byte_limit));
  }
  TRY(runner->set_shapes(operands, results, std::vector<bool>(results.size(), true)));
  TRY(runner->run({}));
  for (size_t k = 0; k < results.size(); ++k)
    call.out[k] = TRY(converted(results[k].empty_handle() ? runner->late(k) : results[k], call.out_dtype(k)));
  return {};
}

}  // namespace tenon::ops
