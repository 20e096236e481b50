// SPDX-License-Identifier: Apache-2.0
// Runs of a node. Outputs that have no reader, and those of data-dependent shape, go to memory of the adapter's own first.
#pragma once
#include "tenon/trt/adapter/node.hpp"

namespace tenon::trt::detail {

inline Descs Node::expected(const Descs& in, const tenon_tensor* const* operands, const std::vector<int64_t>* sizes) {
  Exprs exprs([&](int32_t output, ext::Dim most) { return sizes ? ext::Dim(sizes->at(static_cast<size_t>(output))) : most; });
  bool is_known = true;
  Shapes shapes, values;
  std::vector<DataType> types;
  for (const PluginTensorDesc& d : in) {
    std::vector<ext::Dim> dims;
    for (int32_t axis = 0; axis < d.dims.nbDims; ++axis) dims.emplace_back(std::max<int64_t>(0, d.dims.d[axis]));
    is_known = is_known && std::none_of(d.dims.d, d.dims.d + d.dims.nbDims, [](int64_t n) { return n < 0; });
    shapes.push_back(exprs.of(dims));
    types.push_back(d.type);
  }
  for (const int64_t k : shape_inputs_) {
    const tenon_tensor& t = *operands[k];
    std::vector<ext::Dim> dims;
    for (int64_t n = 0; n < ext::Tensor(t).count(); ++n)
      dims.emplace_back(t.dtype == TENON_I64 ? static_cast<const int64_t*>(t.data)[n] : static_cast<const int32_t*>(t.data)[n]);
    values.push_back(exprs.of(dims));
  }
  const Shapes given = object_->shapes(shapes, values, exprs);
  const std::vector<DataType> out_types = object_->types(types);
  Descs out;
  for (size_t k = 0; k < given.size(); ++k) {
    PluginTensorDesc d{Dims{given[k].nbDims, {}}, out_types[k], TensorFormat::kLINEAR, -1.0F};
    const std::vector<ext::Dim> dims = Exprs::sizes_of(given[k], size_of(k));
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const std::optional<int64_t> n = dims[axis].number();
      if (!n) throw ext::Error(TENON_FAILED, "the plugin gives a size of output " + std::to_string(k) + " that is no number");
      d.dims.d[axis] = is_known ? *n : -1;
    }
    out.push_back(d);
  }
  return out;
}

inline Descs Node::outputs_of(const Descs& in, const tenon_tensor* const* operands, const tenon_tensor* const* results, uint32_t count) {
  const bool can_tell = object_->tells_shapes() && knows_shape_inputs(operands);
  bool all_given = !object_->tells_shapes() || static_cast<int32_t>(count) == object_->outputs();
  for (uint32_t k = 0; k < count; ++k) all_given = all_given && results[k]->data;
  Descs out = all_given || !can_tell ? Descs() : expected(in, operands);
  out.resize(std::max<size_t>(out.size(), count));
  for (uint32_t k = 0; k < count; ++k)
    if (results[k]->data || !can_tell) out[k] = desc_of(*results[k]);
  return out;
}

inline void Node::set_shapes(const tenon_tensor* const* operands, uint32_t operand_count, const tenon_tensor* const* results,
                             uint32_t result_count) {
  Descs in = descs_of(operands, operand_count);
  Descs out = outputs_of(in, operands, results, result_count);
  if (same(in, in_) && same(out, out_)) return;
  take_errors();
  object_->shapes_changed(in, out);
  if (result_count_ == 0) own_workspace_.resize(object_->workspace(in, out) / sizeof(uint64_t) + 1);
  in_ = std::move(in);
  out_ = std::move(out);
}

inline std::vector<void*> Node::places(const tenon_call& call) {
  std::vector<void*> out;
  spare_.resize(out_.size());
  for (size_t k = 0; k < out_.size(); ++k) {
    const bool is_given = k < call.result_count && call.results[k]->data && call.results[k]->dtype != TENON_NO_DTYPE;
    const size_t bytes = pair_of(out_[k].type, size_of(k)).bytes * static_cast<size_t>(count_of(out_[k].dims));
    if (!is_given) spare_[k].resize(bytes / sizeof(uint64_t) + 1);
    out.push_back(is_given ? call.results[k]->data : spare_[k].data());
  }
  return out;
}

/// Inputs that outputs are written over: the plugin changes a copy, as others may read the input after it.
inline void Node::share_aliased(std::vector<const void*>& from, const std::vector<void*>& to) {
  for (size_t k = 0; k < to.size(); ++k) {
    const int32_t input = object_->aliased(size_of(k));
    if (input < 0 || static_cast<size_t>(input) >= from.size() || from[static_cast<size_t>(input)] == to[k]) continue;
    const PluginTensorDesc& d = in_[static_cast<size_t>(input)];
    if (count_of(d.dims) != count_of(out_[k].dims) || d.type != out_[k].type)
      throw ext::Error(TENON_FAILED, "output " + std::to_string(k) + " is aliased to an input of another size or type");
    std::memcpy(to[k], from[static_cast<size_t>(input)], pair_of(d.type, size_of(k)).bytes * static_cast<size_t>(count_of(d.dims)));
    from[static_cast<size_t>(input)] = to[k];
  }
}

inline void Node::give_sizes(const tenon_call& call, const std::vector<void*>& to) {
  const auto is_late = [&](uint32_t k) { return call.results[k]->dtype != TENON_NO_DTYPE && !call.results[k]->data; };
  uint32_t first = 0;
  while (first < call.result_count && !is_late(first)) ++first;
  if (first == call.result_count) return;
  std::vector<int64_t> values(out_.size());
  for (size_t k = 0; k < out_.size(); ++k) {
    if (out_[k].dims.nbDims != 0) continue;
    if (out_[k].type == DataType::kINT64) values[k] = *static_cast<const int64_t*>(to[k]);
    else if (out_[k].type == DataType::kINT32) values[k] = *static_cast<const int32_t*>(to[k]);
  }
  const Descs now = expected(in_, call.operands, &values);
  for (uint32_t k = first; k < call.result_count; ++k) {
    if (!is_late(k)) continue;
    for (int32_t axis = 0; axis < now[k].dims.nbDims; ++axis)
      if (now[k].dims.d[axis] < 0 || now[k].dims.d[axis] > out_[k].dims.d[axis])
        throw ext::Error(TENON_FAILED, "the plugin gives size " + std::to_string(now[k].dims.d[axis]) + " of output " + std::to_string(k) +
                                           ", which exceeds its bound " + std::to_string(out_[k].dims.d[axis]));
    void* data = nullptr;
    const int32_t status = call.set_sizes(&call, k, now[k].dims.nbDims, now[k].dims.d, &data);
    if (status != TENON_OK) throw ext::HostError(status);
    const size_t bytes = pair_of(now[k].type, static_cast<int32_t>(k)).bytes * static_cast<size_t>(count_of(now[k].dims));
    if (bytes > 0) std::memcpy(data, to[k], bytes);
  }
}

inline void Node::enqueue(const tenon_call& call) {
  set_shapes(call.operands, call.operand_count, call.results, call.result_count);
  std::vector<const void*> from;
  for (uint32_t k = 0; k < call.operand_count; ++k) from.push_back(call.operands[k]->data);
  reorder(from);
  const std::vector<void*> to = places(call);
  share_aliased(from, to);
  take_errors();
  object_->enqueue(in_, out_, from, to, result_count_ > 0 ? call.workspace : own_workspace_.data(), call.tactic);
  give_sizes(call, to);
}

}  // namespace tenon::trt::detail
