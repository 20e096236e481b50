// SPDX-License-Identifier: Apache-2.0
// Plugins of the second generation.
#pragma once
#include <utility>

#include "tenon/trt/adapter/context.hpp"
#include "tenon/trt/adapter/object.hpp"
#include "tenon/trt/helpers.hpp"

namespace tenon::trt::detail {

/// The field that an engine keeps.
constexpr const char* kBytes = "serialized";

/// What all of them share: life and bytes. Initialized once an engine, cloned for contexts.
class ObjectV2 : public Object {
 public:
  ~ObjectV2() override {
    if (!own_) return;
    if (is_clone_ && kind() != PluginVersion::kV2) static_cast<IPluginV2Ext*>(own_)->detachFromContext();
    if (is_initialized_) own_->terminate();
    own_->destroy();
  }

  int32_t outputs() const override { return own_->getNbOutputs(); }
  std::vector<DataType> types(const std::vector<DataType>& inputs) const override {
    std::vector<DataType> out(static_cast<size_t>(outputs()), DataType::kFLOAT);
    for (size_t k = 0; kind() != PluginVersion::kV2 && k < out.size(); ++k)
      out[k] = static_cast<IPluginV2Ext*>(own_)->getOutputDataType(size_of(k), inputs.data(), size_of(inputs.size()));
    return out;
  }

  void save(const ext::Saver& saver) const override {
    const size_t size = own_->getSerializationSize();
    std::vector<unsigned char> bytes(size + 1);  // none needs a place too
    const char* const begin = reinterpret_cast<const char*>(bytes.data());
    blob() = {begin, begin + size, nullptr, false};
    own_->serialize(bytes.data());
    const Blob after = std::exchange(blob(), {});
    if (after.over || (after.reached && after.reached != after.end))
      throw ext::Error(TENON_FAILED, "serialize wrote " + (after.over ? "more" : std::to_string(after.reached - after.begin)) +
                                         " bytes, getSerializationSize says " + std::to_string(size));
    bytes.resize(size);
    saver.put(kBytes, bytes);
  }

  std::unique_ptr<Object> attach() override {
    initialize();
    IPluginV2* const copy = own_->clone();
    if (!copy) throw ext::Error(TENON_FAILED, "clone gave nothing" + take_errors());
    if (kind() != PluginVersion::kV2)
      static_cast<IPluginV2Ext*>(copy)->attachToContext(nullptr, nullptr, resource_context().getGpuAllocator());
    return over(copy, true);
  }

  void initialize() {
    const std::lock_guard<std::mutex> held(lock_);
    if (!is_initialized_ && !is_clone_) check("initialize", own_->initialize());
    is_initialized_ = !is_clone_;
  }

  static PluginVersion kind_of(IPluginV2& plugin) {
    return static_cast<PluginVersion>(static_cast<uint32_t>(plugin.getTensorRTVersion()) >> 24U);
  }
  /// An object of the class that the plugin is of.
  static std::unique_ptr<ObjectV2> over(IPluginV2* plugin, bool is_clone);

 protected:
  ObjectV2(IPluginV2* own, bool is_clone) : own_(own), is_clone_(is_clone) {}
  PluginVersion kind() const { return kind_of(*own_); }
  IPluginV2* own_;

 private:
  bool is_clone_;
  bool is_initialized_ = false;
  std::mutex lock_;
};

class DynamicV2 final : public ObjectV2 {
 public:
  DynamicV2(IPluginV2* own, bool is_clone) : ObjectV2(own, is_clone) {}

  Shapes shapes(const Shapes& inputs, const Shapes&, Exprs& exprs) override {
    Shapes out;
    for (int32_t k = 0; k < outputs(); ++k) out.push_back(plugin().getOutputDimensions(k, inputs.data(), size_of(inputs.size()), exprs));
    return out;
  }
  bool supports(int32_t position, const Descs& all, int32_t inputs) override {
    return plugin().supportsFormatCombination(position, all.data(), inputs, size_of(all.size()) - inputs);
  }
  void configure(const DynamicDescs& inputs, const DynamicDescs& outputs) override {
    plugin().configurePlugin(inputs.data(), size_of(inputs.size()), outputs.data(), size_of(outputs.size()));
  }
  size_t workspace(const Descs& inputs, const Descs& outputs) const override {
    return plugin().getWorkspaceSize(inputs.data(), size_of(inputs.size()), outputs.data(), size_of(outputs.size()));
  }
  void shapes_changed(const Descs& inputs, const Descs& outputs) override { configure(dynamic(inputs), dynamic(outputs)); }
  void enqueue(const Descs& inputs, const Descs& outputs, const std::vector<const void*>& from, const std::vector<void*>& to,
               void* workspace, int32_t) override {
    check("enqueue", plugin().enqueue(inputs.data(), outputs.data(), from.data(), to.data(), workspace, nullptr));
  }

 private:
  IPluginV2DynamicExt& plugin() const { return *static_cast<IPluginV2DynamicExt*>(own_); }
};

/// IPluginV2, IPluginV2Ext and IPluginV2IOExt: the first axis of all is the batch, the other sizes are known when the model is built.
class StaticV2 final : public ObjectV2 {
 public:
  StaticV2(IPluginV2* own, bool is_clone) : ObjectV2(own, is_clone) {}

  Shapes shapes(const Shapes& inputs, const Shapes&, Exprs& exprs) override {
    if (inputs.empty() || inputs[0].nbDims < 1)
      throw ext::Error(TENON_NOT_SUPPORTED, "a plugin of this kind needs a batch as its first axis");
    std::vector<Dims> dims;
    for (const DimsExprs& in : inputs) {
      Dims out{in.nbDims - 1, {}};
      for (int32_t axis = 1; axis < in.nbDims; ++axis) {
        if (!in.d[axis]->isConstant()) throw ext::Error(TENON_NOT_SUPPORTED, "a plugin of this kind needs known sizes, but for the batch");
        out.d[axis - 1] = in.d[axis]->getConstantValue();
      }
      dims.push_back(out);
    }
    Shapes all;
    for (int32_t k = 0; k < outputs(); ++k) {
      const Dims inner = own_->getOutputDimensions(k, dims.data(), size_of(dims.size()));
      if (inner.nbDims < 0 || inner.nbDims >= Dims::MAX_DIMS) throw ext::Error(TENON_FAILED, "getOutputDimensions gives no dims");
      DimsExprs out{};
      out.nbDims = inner.nbDims + 1;
      out.d[0] = inputs[0].d[0];
      for (int32_t axis = 0; axis < inner.nbDims; ++axis) out.d[axis + 1] = exprs.constant(inner.d[axis]);
      all.push_back(out);
    }
    return all;
  }
  bool supports(int32_t position, const Descs& all, int32_t inputs) override {
    if (kind() != PluginVersion::kV2_IOEXT)
      return own_->supportsFormat(all[static_cast<size_t>(position)].type, all[static_cast<size_t>(position)].format);
    return io().supportsFormatCombination(position, all.data(), inputs, size_of(all.size()) - inputs);
  }
  void configure(const DynamicDescs& inputs, const DynamicDescs& outputs) override {
    const auto most = [](const DynamicDescs& all) {
      Descs out;
      for (const DynamicPluginTensorDesc& d : all) {
        out.push_back(d.desc);
        out.back().dims = d.max;
      }
      return out;
    };
    shapes_changed(most(inputs), most(outputs));
  }
  size_t workspace(const Descs& inputs, const Descs&) const override { return own_->getWorkspaceSize(batch_of(inputs)); }
  void shapes_changed(const Descs& inputs, const Descs& outputs) override {
    const Descs in = inner(inputs), out = inner(outputs);
    if (kind() == PluginVersion::kV2_IOEXT) return io().configurePlugin(in.data(), size_of(in.size()), out.data(), size_of(out.size()));
    const std::vector<Dims> in_dims = dims(in), out_dims = dims(out);
    if (kind() == PluginVersion::kV2)
      return own_->configureWithFormat(in_dims.data(), size_of(in.size()), out_dims.data(), size_of(out.size()), in.at(0).type,
                                       in.at(0).format, batch_of(inputs));
    const std::vector<DataType> in_types = types_of(in), out_types = types_of(out);
    const std::unique_ptr<bool[]> no(new bool[std::max(in.size(), out.size())]());
    static_cast<IPluginV2Ext*>(own_)->configurePlugin(in_dims.data(), size_of(in.size()), out_dims.data(), size_of(out.size()),
                                                      in_types.data(), out_types.data(), no.get(), no.get(), in.at(0).format,
                                                      batch_of(inputs));
  }
  void enqueue(const Descs& inputs, const Descs&, const std::vector<const void*>& from, const std::vector<void*>& to, void* workspace,
               int32_t) override {
    check("enqueue", own_->enqueue(batch_of(inputs), from.data(), to.data(), workspace, nullptr));
  }

 private:
  IPluginV2IOExt& io() const { return *static_cast<IPluginV2IOExt*>(own_); }
  static int32_t batch_of(const Descs& inputs) { return static_cast<int32_t>(inputs.at(0).dims.d[0]); }
  static Descs inner(Descs all) {
    for (PluginTensorDesc& d : all) {
      std::copy(d.dims.d + 1, d.dims.d + Dims::MAX_DIMS, d.dims.d);
      d.dims.nbDims = std::max(0, d.dims.nbDims - 1);
    }
    return all;
  }
  static std::vector<Dims> dims(const Descs& all) {
    std::vector<Dims> out;
    for (const PluginTensorDesc& d : all) out.push_back(d.dims);
    return out;
  }
  static std::vector<DataType> types_of(const Descs& all) {
    std::vector<DataType> out;
    for (const PluginTensorDesc& d : all) out.push_back(d.type);
    return out;
  }
};

inline std::unique_ptr<ObjectV2> ObjectV2::over(IPluginV2* plugin, bool is_clone) {
  if (kind_of(*plugin) == PluginVersion::kV2_DYNAMICEXT) return std::make_unique<DynamicV2>(plugin, is_clone);
  return std::make_unique<StaticV2>(plugin, is_clone);
}

}  // namespace tenon::trt::detail
