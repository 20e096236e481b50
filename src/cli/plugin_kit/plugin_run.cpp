// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/plugin_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "plugin/public/plugins.h"

namespace tenon::cli {

namespace {

int32_t refuse(const char* text) {
  plugin::set_failure(text);
  return TENON_FAILED;
}

Sizes sizes_of(const ir::Type& type) {
  Sizes out;
  for (Dim d : *type.shape) out.push_back(d.value());
  return out;
}

Tensor copy_of(DType dtype, const Sizes& sizes, const GuardedBuffer& bytes) {
  Tensor out = *Tensor::make(dtype, sizes);
  std::memcpy(out.mutable_data(), bytes.data(), static_cast<size_t>(out.byte_size()));
  return out;
}

}  // namespace

bool has_dynamic_sizes(const ir::Type& type) { return !type.is_static(); }

std::string difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].dtype() != b[k].dtype() || a[k].shape() != b[k].shape())
      return fmt::format("result {} is {} and {}", k, type_text(a[k]), type_text(b[k]));
    const auto bytes = static_cast<size_t>(a[k].byte_size());
    size_t apart = 0;
    for (size_t i = 0; i < bytes; ++i) apart += a[k].data()[i] != b[k].data()[i];
    if (apart > 0) return fmt::format("result {} differs in {} of {} bytes", k, apart, bytes);
  }
  return {};
}

PluginRun::PluginRun(const plugin::Object& object, const PluginCase& at, plugin::Layouts layouts)
    : object_(object),
      case_(at),
      operands_(at.made.operands.size()),
      results_(at.results.size()),
      layouts_(std::move(layouts)),
      strides_(operands_.size() + results_.size()),
      graphs_(ops::EvaluatedGraphs::make(at.graphs, at.made.graph->ops(), object.op().place())),
      call_(*this, object, operands_, results_) {
  if (graphs_) graph_calls_.set_graphs(graphs_->get());
}

bool PluginRun::stopped() const { return options_->stopped; }

void PluginRun::set_views(plugin::TensorViews& operands, plugin::TensorViews& results, const PluginCase& at) {
  for (size_t k = 0; k < at.made.operands.size(); ++k) {
    const Tensor& t = at.made.operands[k];
    if (t.empty_handle()) {
      operands.clear(k);
      continue;
    }
    operands.set_type(k, t.dtype(), t.shape());
    set_layout(operands, k, layouts_[k], strides_[k]);
  }
  for (size_t k = 0; k < at.results.size(); ++k) {
    const ir::Type& type = at.results[k];
    results.set_type(k, type.dtype, has_dynamic_sizes(type) ? Sizes() : sizes_of(type));
    set_layout(results, k, layout_of_result(k), strides_[operands_.size() + k]);
  }
}

void PluginRun::set_result_type(size_t k, DType dtype, const Sizes& sizes) {
  results_.set_type(k, dtype, sizes);
  set_layout(results_, k, layout_of_result(k), strides_[operands_.size() + k]);
}

Result<void> PluginRun::set_shapes(const PluginCase* workspace_of) {
  if (!graphs_) return Error(graphs_.error());
  if (layouts_.empty()) layouts_ = TRY(plugin::formats_of(object_, port_types_of(case_), operands_.size(), 1))[0];
  set_views(operands_, results_, case_);
  TRY(object_.shapes_changed(operands_.data(), results_.data()));
  if (!workspace_of) {
    workspace_ = TRY(object_.workspace(operands_.data(), results_.data()));
    return {};
  }
  plugin::TensorViews operands(workspace_of->made.operands.size()), results(workspace_of->results.size());
  set_views(operands, results, *workspace_of);
  workspace_ = TRY(object_.workspace(operands.data(), results.data()));
  set_views(operands_, results_, case_);
  return {};
}

void PluginRun::lay_out(Memory& memory, const std::vector<Tensor>& operands, const PluginRunOptions& options) {
  for (size_t k = 0; k < operands.size(); ++k) {
    const Tensor& t = operands[k];
    GuardedBuffer& bytes = memory.operands.emplace_back(t.empty_handle() ? 0 : static_cast<size_t>(t.byte_size()));
    if (t.empty_handle()) continue;
    std::memcpy(bytes.data(), in_layout(t, layouts_[k]).data(), bytes.size());
    operands_.set_data(k, bytes.data());
  }
  for (size_t k = 0; k < case_.results.size(); ++k) {
    const ir::Type& type = case_.results[k];
    const size_t size = has_dynamic_sizes(type) ? 0 : static_cast<size_t>(bytes_of(type.dtype, product(*type.shape).value()));
    GuardedBuffer& bytes = memory.results.emplace_back(size, options.fill);
    set_result_type(k, type.dtype, has_dynamic_sizes(type) ? Sizes() : sizes_of(type));
    results_.set_data(k, has_dynamic_sizes(type) ? nullptr : bytes.data());
    const auto& ports = object_.op().results;
    const int32_t place = k < ports.size() ? ports[k].in_place - 1 : -1;
    if (!options.in_place || place < 0 || static_cast<size_t>(place) >= operands.size()) continue;
    if (layouts_[static_cast<size_t>(place)] != layout_of_result(k)) continue;
    if (GuardedBuffer& other = memory.operands[static_cast<size_t>(place)]; other.size() == size) results_.set_data(k, other.data());
  }
  memory.workspace = std::make_unique<GuardedBuffer>(workspace_, static_cast<uint8_t>(~options.fill));
}

void PluginRun::call_with(const PluginRunOptions& options, Memory& memory) {
  options_ = &options;
  now_ = &memory;
  dynamic_sizes_.assign(case_.results.size(), std::nullopt);
  faults_.clear();
  refused_ = met_ = false;
  call_->workspace = workspace_ > 0 ? memory.workspace->data() : nullptr;
  call_->tactic = options.tactic;
  call_->threads = options.pieces ? 4 : 1;
}

Result<RunResults> PluginRun::run(const PluginRunOptions& options, const std::vector<Tensor>* operands) {
  const std::vector<Tensor>& given = operands ? *operands : case_.made.operands;
  auto memory = std::make_unique<Memory>();
  lay_out(*memory, given, options);
  if (memory_) {  // so that an object that kept a pointer to it reads wrong values
    for (GuardedBuffer& bytes : memory_->operands) bytes.fill(0x7b);
    if (memory_->workspace) memory_->workspace->fill(0x7b);
  }
  call_with(options, *memory);
  graph_calls_.forget();
  Result<void> done = object_.enqueue(call_.get());
  if (!done) done = graph_calls_.with_cause(std::move(done).error());
  RunResults out;
  if (done) out = collected(*memory, given);
  memory_ = std::move(memory);
  TRY(done);
  return out;
}

bool PluginRun::may_be_overwritten(size_t operand) const {
  return std::ranges::any_of(object_.op().results, [&](const tenon_port& p) { return p.in_place == static_cast<int32_t>(operand) + 1; });
}

std::string PluginRun::name_of(size_t result) const {
  const auto& ports = object_.op().results;
  if (ports.empty()) return fmt::format("result {}", result);  // a kernel of another op
  return fmt::format("result '{}'", ports[std::min(result, ports.size() - 1)].name);
}

void PluginRun::check_operands(const Memory& memory, const std::vector<Tensor>& operands, RunResults& out) const {
  for (size_t k = 0; k < operands.size(); ++k) {
    if (const std::string damage = memory.operands[k].damage(); !damage.empty())
      out.faults.push_back(fmt::format("operand {}: {}", k, damage));
    if (operands[k].empty_handle() || may_be_overwritten(k)) continue;
    if (std::memcmp(memory.operands[k].data(), in_layout(operands[k], layouts_[k]).data(), memory.operands[k].size()) != 0)
      out.faults.push_back(fmt::format("operand {} is overwritten", k));
  }
}

RunResults PluginRun::collected(const Memory& memory, const std::vector<Tensor>& operands) const {
  RunResults out{.tensors = {}, .faults = faults_, .refused = refused_};
  check_operands(memory, operands, out);
  for (size_t k = 0; k < case_.results.size(); ++k) {
    const ir::Type& type = case_.results[k];
    const GuardedBuffer& bytes = memory.results[k];
    if (const std::string damage = bytes.damage(); !damage.empty()) out.faults.push_back(name_of(k) + ": " + damage);
    if (has_dynamic_sizes(type) && !dynamic_sizes_[k]) {
      out.faults.push_back(name_of(k) + ": its sizes are not set");
      out.tensors.emplace_back();
      continue;
    }
    const Sizes sizes = has_dynamic_sizes(type) ? *dynamic_sizes_[k] : sizes_of(type);
    Tensor found = copy_of(type.dtype, sizes, bytes);
    if (!has_dynamic_sizes(type) && results_[k].data != bytes.data())  // in place
      std::memcpy(found.mutable_data(), results_[k].data, bytes.size());
    out.tensors.push_back(from_layout(found, layout_of_result(k)));
  }
  if (const std::string damage = memory.workspace->damage(); !damage.empty()) out.faults.push_back("workspace: " + damage);
  return out;
}

int32_t PluginRun::parallel_for(int64_t count, int64_t grain, Body body, void* argument) {
  if (options_->refuse_parallel_for) {
    refused_ = true;
    return refuse("the thread pool is gone");
  }
  if (options_->meanwhile && !std::exchange(met_, true)) options_->meanwhile();
  if (!options_->pieces) {
    body(argument, 0, count, 0);
    return TENON_OK;
  }
  const int64_t piece = std::max<int64_t>(1, std::min((count + 3) / 4, std::max<int64_t>(grain, 1)));
  for (int64_t pieces = (count + piece - 1) / piece; pieces-- > 0;)
    body(argument, pieces * piece, std::min(count, (pieces + 1) * piece), static_cast<int32_t>(pieces % 4));
  return TENON_OK;
}

int32_t PluginRun::run_graph(uint32_t graph, const tenon_tensor* const* operands, const tenon_tensor* const* results) {
  if (!options_->refuse_run_graph) return graph_calls_.run(graph, operands, results);
  refused_ = true;
  return refuse("the graph is gone");
}

int32_t PluginRun::set_sizes(uint32_t result, std::span<const int64_t> sizes, void** data) {
  if (options_->refuse_set_sizes) {
    refused_ = true;
    return refuse("there is no memory for the result");
  }
  if (result >= case_.results.size() || !has_dynamic_sizes(case_.results[result]))
    return refuse("set_sizes: the sizes of this result are known before the run");
  const ir::Type& type = case_.results[result];
  int64_t count = 1;
  bool is_inferred = !type.has_rank() || type.shape->size() == sizes.size();
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (is_inferred && type.has_rank()) is_inferred = sizes[axis] >= 0 && sizes[axis] <= (*type.shape)[axis].upper();
    count *= std::max<int64_t>(0, sizes[axis]);
  }
  if (!is_inferred)
    faults_.push_back(fmt::format("{}: its sizes are [{}], inferred {}", name_of(result), fmt::join(sizes, ","), type.text()));
  dynamic_sizes_[result] = Sizes(sizes.begin(), sizes.end());
  now_->results[result] = GuardedBuffer(static_cast<size_t>(bytes_of(type.dtype, count)), options_->fill);
  set_result_type(result, type.dtype, *dynamic_sizes_[result]);
  results_.set_data(result, now_->results[result].data());
  *data = now_->results[result].data();
  return TENON_OK;
}

}  // namespace tenon::cli
