// SPDX-License-Identifier: Apache-2.0
// One node: its plugin, and what the adapter records of its operands and results.
#pragma once
#include <cstring>

#include "tenon/trt/adapter/fields.hpp"
#include "tenon/trt/adapter/object_v2.hpp"
#include "tenon/trt/adapter/object_v3.hpp"

namespace tenon::trt::detail {

class Node {
 public:
  /// Errors: what the creator logs, with its name and namespace.
  static std::unique_ptr<Node> create(const Creator& creator, const tenon_node& node) {
    take_errors();
    auto out = std::make_unique<Node>();
    const Fields fields(node, creator);
    out->object_ = creator.is_v3() ? made_v3(creator, node, fields) : made_v2(creator, node, fields);
    out->shape_inputs_ = fields.shape_inputs;
    if (node.struct_size >= offsetof(tenon_node, result_count) + sizeof node.result_count && node.result_count > 0) {
      out->operand_count_ = node.operand_count;
      out->result_count_ = node.result_count;
    }
    return out;
  }

  void infer(tenon_inference& own) {
    std::vector<DataType> types(own.operand_count);
    for (uint32_t k = 0; k < own.operand_count; ++k) types[k] = type_of(own.operands[k]->dtype);
    reorder(types);
    Exprs exprs([&](int32_t, ext::Dim most) { return ext::Dim::of(own.sized_by_data(&own, most.handle())); });
    const Shapes shapes = inferred(own, exprs);
    const std::vector<DataType> out_types = object_->types(types);
    if (own.result_count > shapes.size())
      throw ext::Error(TENON_NOT_SUPPORTED, "the plugin has " + std::to_string(shapes.size()) + " outputs, and the node has " +
                                                std::to_string(own.result_count));
    for (uint32_t k = 0; k < own.result_count; ++k) {
      const std::vector<ext::Dim> sizes = Exprs::sizes_of(shapes[k], static_cast<int32_t>(k));
      own.results[k]->dtype = pair_of(out_types[k], static_cast<int32_t>(k)).dtype;
      own.results[k]->rank = static_cast<int32_t>(sizes.size());
      for (size_t axis = 0; axis < sizes.size(); ++axis) own.results[k]->sizes[axis] = sizes[axis].handle();
    }
  }

  bool supports(uint32_t position, const tenon_format* formats, uint32_t count) {
    const auto outputs = static_cast<uint32_t>(object_->outputs());
    const uint32_t inputs = count > outputs ? count - outputs : 0;
    Descs all;
    for (uint32_t k = 0; k <= position; ++k) all.push_back({Dims{-1, {}}, type_of(formats[k].dtype), format_of(formats[k].layout), -1.0F});
    all.resize(count, PluginTensorDesc{Dims{-1, {}}, DataType::kFLOAT, TensorFormat::kLINEAR, -1.0F});
    const bool out = object_->supports(static_cast<int32_t>(position), all, static_cast<int32_t>(inputs));
    asked_.clear();
    for (uint32_t k = inputs; out && k <= position; ++k) asked_.push_back(format_of(formats[k].layout));
    return out;
  }

  /// Not where sizes of outputs go by values of shape inputs, which ranges do not contain: shapes_changed checks them.
  void configure(const tenon_ranges& ranges) {
    if (!shape_inputs_.empty()) return;
    DynamicDescs in;
    for (uint32_t k = 0; k < ranges.operand_count; ++k) {
      DynamicPluginTensorDesc d = dynamic(desc_of(*ranges.usual[k]));
      d.min = dims_of(ranges.least[k]->sizes, ranges.least[k]->rank);
      d.max = dims_of(ranges.most[k]->sizes, ranges.most[k]->rank);
      for (int32_t axis = 0; axis < d.max.nbDims; ++axis)
        if (d.max.d[axis] < 0) d.max.d[axis] = std::max(kNoLimit, d.min.d[axis]);
      in.push_back(d);
    }
    reorder(in);
    DynamicDescs out = dynamic(expected(picked(in, &DynamicPluginTensorDesc::opt), nullptr));
    const Descs least = expected(picked(in, &DynamicPluginTensorDesc::min), nullptr);
    const Descs most = expected(picked(in, &DynamicPluginTensorDesc::max), nullptr);
    for (size_t k = 0; k < out.size(); ++k) {
      if (k < asked_.size()) out[k].desc.format = asked_[k];
      out[k].min = least[k].dims;
      out[k].max = most[k].dims;
    }
    for (DynamicDescs* all : {&in, &out})
      for (DynamicPluginTensorDesc& d : *all)
        for (int32_t axis = 0; axis < d.desc.dims.nbDims; ++axis)
          if (d.min.d[axis] != d.max.d[axis]) d.desc.dims.d[axis] = -1;
    object_->configure(in, out);
  }

  std::vector<int32_t> tactics() { return object_->tactics(); }
  void save(const ext::Saver& saver) const {
    object_->save(saver);
    if (!shape_inputs_.empty()) saver.put(kShapeInputs, shape_inputs_);
  }

  std::unique_ptr<Node> attach() {
    take_errors();
    auto out = std::make_unique<Node>();
    out->object_ = object_->attach();
    out->shape_inputs_ = shape_inputs_;
    out->operand_count_ = operand_count_;
    out->result_count_ = result_count_;
    return out;
  }

  /// Where the counts are known: a host that does not give them leaves it to enqueue.
  void shapes_changed(const tenon_tensor* const* operands, const tenon_tensor* const* results) {
    if (result_count_ > 0) set_shapes(operands, operand_count_, results, result_count_);
  }
  uint64_t workspace(const tenon_tensor* const* operands, const tenon_tensor* const* results) {
    if (result_count_ == 0) return 0;
    const Descs in = descs_of(operands, operand_count_);
    const Descs out = outputs_of(in, operands, results, result_count_);
    return object_->workspace(in, out);
  }
  void enqueue(const tenon_call& call);

 private:
  static std::unique_ptr<Object> made_v2(const Creator& creator, const tenon_node& node, const Fields& fields) {
    IPluginCreator& own = creator.v2();
    if (node.phase == TENON_BUILD)
      return ObjectV2::over(some(own.createPlugin(node.name, fields.collection()), creator, "createPlugin"), false);
    const ext::Node given(node);
    const std::vector<unsigned char> kept = given.list<unsigned char>(kBytes);
    std::string bytes(kept.begin(), kept.end());
    bytes.resize(kept.size() + 4096);  // for plugins that read past the end before they check
    blob() = {bytes.data(), bytes.data() + kept.size(), nullptr, false};
    IPluginV2* const plugin = own.deserializePlugin(node.name, bytes.data(), kept.size());
    const Blob after = std::exchange(blob(), {});
    auto out = ObjectV2::over(some(plugin, creator, "deserializePlugin"), false);
    const size_t wanted = plugin->getSerializationSize();
    if (wanted != kept.size() || (after.reached && after.reached != after.end))
      throw ext::Error(TENON_BAD_FIELD, creator.text() + " keeps " + std::to_string(wanted) + " bytes, and the engine holds " +
                                            std::to_string(kept.size()) + ": it was built with another library");
    out->initialize();
    return out;
  }

  static std::unique_ptr<Object> made_v3(const Creator& creator, const tenon_node& node, const Fields& fields) {
    const auto phase = node.phase == TENON_BUILD ? TensorRTPhase::kBUILD : TensorRTPhase::kRUNTIME;
    return std::make_unique<ObjectV3>(
        std::unique_ptr<IPluginV3>(some(creator.v3().createPlugin(node.name, fields.collection(), phase), creator, "createPlugin")));
  }

  template <class T>
  static T* some(T* plugin, const Creator& creator, const char* function) {
    if (plugin) return plugin;
    throw ext::Error(TENON_FAILED, creator.text() + ": " + function + " gave nothing" + take_errors());
  }

  bool is_shape_input(size_t k) const { return std::find(shape_inputs_.begin(), shape_inputs_.end(), k) != shape_inputs_.end(); }
  /// Shape inputs follow the others.
  template <class T>
  void reorder(std::vector<T>& all) const {
    if (shape_inputs_.empty()) return;
    std::vector<T> out, behind;
    for (size_t k = 0; k < all.size(); ++k) (is_shape_input(k) ? behind : out).push_back(all[k]);
    out.insert(out.end(), behind.begin(), behind.end());
    all = std::move(out);
  }

  Shapes inferred(const tenon_inference& own, Exprs& exprs) {
    Shapes in, values;
    for (uint32_t k = 0; k < own.operand_count; ++k) {
      const tenon_type& t = *own.operands[k];
      const std::string whose = "input " + std::to_string(k);
      if (t.rank < 0 || t.rank > Dims::MAX_DIMS) throw ext::Error(TENON_NOT_SUPPORTED, whose + " is not of a known rank of at most 8");
      in.push_back(exprs.of(dims_of_handles(t.sizes, static_cast<size_t>(t.rank))));
      if (!is_shape_input(k)) continue;
      if (t.data_count == 0 || t.data_count > Dims::MAX_DIMS)
        throw ext::Error(TENON_NOT_SUPPORTED, whose + " is a shape input: one to eight values of it have to be known");
      values.push_back(exprs.of(dims_of_handles(t.data, t.data_count)));
    }
    reorder(in);
    take_errors();
    return object_->shapes(in, values, exprs);
  }
  static std::vector<ext::Dim> dims_of_handles(const tenon_dim* handles, size_t count) {
    std::vector<ext::Dim> out;
    for (size_t k = 0; k < count; ++k) out.push_back(ext::Dim::of(handles[k]));
    return out;
  }

  static Descs picked(const DynamicDescs& all, Dims DynamicPluginTensorDesc::* which) {
    Descs out;
    for (const DynamicPluginTensorDesc& d : all) {
      out.push_back(d.desc);
      out.back().dims = d.*which;
    }
    return out;
  }

  /// Types and sizes of outputs, of inputs of known sizes. operands: null where no values are known. sizes: what size tensors hold; null:
  /// their most.
  Descs expected(const Descs& in, const tenon_tensor* const* operands, const std::vector<int64_t>* sizes = nullptr);
  Descs descs_of(const tenon_tensor* const* operands, uint32_t count) const {
    Descs out;
    for (uint32_t k = 0; k < count; ++k) out.push_back(desc_of(*operands[k]));
    reorder(out);
    return out;
  }
  bool knows_shape_inputs(const tenon_tensor* const* operands) const {
    return std::all_of(shape_inputs_.begin(), shape_inputs_.end(), [&](int64_t k) { return operands && operands[k]->data; });
  }
  Descs outputs_of(const Descs& in, const tenon_tensor* const* operands, const tenon_tensor* const* results, uint32_t count);
  void set_shapes(const tenon_tensor* const* operands, uint32_t operand_count, const tenon_tensor* const* results, uint32_t result_count);
  std::vector<void*> places(const tenon_call& call);
  void share_aliased(std::vector<const void*>& from, const std::vector<void*>& to);
  void give_sizes(const tenon_call& call, const std::vector<void*>& to);

  std::unique_ptr<Object> object_;
  std::vector<int64_t> shape_inputs_;
  uint32_t operand_count_ = 0, result_count_ = 0;  ///< 0 results: the host gives no count
  std::vector<TensorFormat> asked_;                ///< of outputs, as `supports` took them last
  Descs in_, out_;                                 ///< of the runs
  std::vector<std::vector<uint64_t>> spare_;       ///< places of outputs that the host has none for
  std::vector<uint64_t> own_workspace_;
};

}  // namespace tenon::trt::detail

#include "tenon/trt/adapter/run.hpp"
