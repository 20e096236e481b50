// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/plugin_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tenon::cli {

namespace {

/// Whether a kernel takes a case of the op: by dtypes, and by whether creating it with these attributes succeeds. Only operands that are
/// tensors with bytes.
Result<void> takes(const plugin::Op& op, const PluginCase& at) {
  for (const Tensor& t : at.made.operands)
    if (!t.empty_handle() && !t.has_bytes()) return fail(Code::not_supported, op.place(), "it takes tensors of numbers");
  const auto object = TRY(create_at(op, at, TENON_BUILD, at.fields));
  TRY(plugin::formats_of(*object, port_types_of(at), at.made.operands.size(), 1));
  return {};
}

}  // namespace

std::string text_of(const ops::Sample& sample) {
  std::string out;
  for (const ops::SampleOperand& o : sample.operands) {
    out += out.empty() ? "" : ", ";
    out += o.present ? type_text(o.dtype, o.shape) : "_";
    if (o.value) out += " = ...";
  }
  std::string separator = "; ";
  for (const auto& [name, value] : sample.attributes)
    out += fmt::format("{}{}={}", std::exchange(separator, ", "), name, ir::text_of(value));
  return out;
}

Result<std::unique_ptr<plugin::Object>> create_at(const plugin::Op& op, const PluginCase& at, tenon_phase phase,
                                                  std::span<const plugin::Field> fields) {
  return plugin::Object::create(op, phase, "node", fields, at.made.operands.size(), at.results.size());
}

std::vector<plugin::PortType> port_types_of(const PluginCase& at) {
  std::vector<plugin::PortType> out;
  for (const Tensor& t : at.made.operands) out.push_back({t.dtype(), t.rank()});
  for (const ir::Type& type : at.results) out.push_back({type.dtype, type.has_rank() ? type.rank() : -1});
  return out;
}

std::vector<tenon_format> formats_of(const PluginCase& at, int32_t layout) {
  std::vector<tenon_format> out;
  for (const Tensor& t : at.made.operands) out.push_back({static_cast<int32_t>(t.dtype()), layout});
  for (const ir::Type& type : at.results) out.push_back({static_cast<int32_t>(type.dtype), layout});
  return out;
}

ops::Sample with_sizes(ops::Sample sample, const std::function<int64_t(int64_t)>& size_of) {
  for (ops::SampleOperand& o : sample.operands)
    for (int64_t& size : o.shape)
      if (size > 1 && !o.value) size = size_of(size);
  return sample;
}

Result<PluginCase> make_case(const TestedPlugin& plugin, ops::Sample sample, uint64_t seed, bool symbolic) {
  PluginCase out;
  out.text = text_of(sample);
  sample.outputs = std::max(sample.outputs, plugin.op.results.size());
  out.made = TRY(ops::build_sample(plugin.def, sample, seed, symbolic, true, plugin.table));
  out.sample = std::move(sample);
  const ir::NodeView view = out.view();
  out.fields = plugin.is_kernel() ? ops::attributes_as_fields(view) : TRY(ops::fields_of(view, plugin.op));
  if (plugin.is_kernel()) TRY(takes(plugin.op, out));
  out.results = view.outputs;
  if (plugin.op.table.add_graphs) out.graphs = TRY(ops::added_graphs_of(view, *TRY(create_at(plugin.op, out, TENON_BUILD, out.fields))));
  return out;
}

}  // namespace tenon::cli
