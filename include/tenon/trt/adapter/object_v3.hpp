// SPDX-License-Identifier: Apache-2.0
// Plugins of the third generation.
#pragma once
#include "tenon/trt/adapter/context.hpp"
#include "tenon/trt/adapter/object.hpp"

namespace tenon::trt::detail {

class ObjectV3 final : public Object {
 public:
  /// Errors: a plugin without its runtime, or core.
  explicit ObjectV3(std::unique_ptr<IPluginV3> own) : own_(std::move(own)) {
    build_ = static_cast<IPluginV3OneBuild*>(own_->getCapabilityInterface(PluginCapabilityType::kBUILD));
    runtime_ = static_cast<IPluginV3OneRuntime*>(own_->getCapabilityInterface(PluginCapabilityType::kRUNTIME));
    if (!runtime_ || !own_->getCapabilityInterface(PluginCapabilityType::kCORE))
      throw ext::Error(TENON_FAILED, "the plugin lacks its capability kCORE or kRUNTIME");
  }

  bool tells_shapes() const override { return build_ != nullptr; }
  int32_t outputs() const override { return build().getNbOutputs(); }
  std::vector<DataType> types(const std::vector<DataType>& inputs) const override {
    std::vector<DataType> out(static_cast<size_t>(outputs()), DataType::kFLOAT);
    check("getOutputDataTypes", build().getOutputDataTypes(out.data(), size_of(out.size()), inputs.data(), size_of(inputs.size())));
    return out;
  }
  Shapes shapes(const Shapes& inputs, const Shapes& shape_inputs, Exprs& exprs) override {
    Shapes out(static_cast<size_t>(outputs()), DimsExprs{});
    check("getOutputShapes",
          build().getOutputShapes(inputs.data(), size_of(inputs.size()) - size_of(shape_inputs.size()), shape_inputs.data(),
                                  size_of(shape_inputs.size()), out.data(), size_of(out.size()), exprs));
    return out;
  }
  bool supports(int32_t position, const Descs& all, int32_t inputs) override {
    const DynamicDescs descs = dynamic(all);
    return build().supportsFormatCombination(position, descs.data(), inputs, size_of(descs.size()) - inputs);
  }
  void configure(const DynamicDescs& inputs, const DynamicDescs& outputs) override {
    check("configurePlugin", build().configurePlugin(inputs.data(), size_of(inputs.size()), outputs.data(), size_of(outputs.size())));
  }
  size_t workspace(const Descs& inputs, const Descs& outputs) const override {
    const DynamicDescs in = dynamic(inputs), out = dynamic(outputs);
    return build().getWorkspaceSize(in.data(), size_of(in.size()), out.data(), size_of(out.size()));
  }
  int32_t aliased(int32_t output) override {
    if (!build_ || build_->getInterfaceInfo().major < 2) return -1;
    return static_cast<IPluginV3OneBuildV2*>(build_)->getAliasedInput(output);
  }
  std::vector<int32_t> tactics() override {
    std::vector<int32_t> out(static_cast<size_t>(std::max(0, build().getNbTactics())));
    if (!out.empty()) check("getValidTactics", build().getValidTactics(out.data(), size_of(out.size())));
    return out;
  }

  void save(const ext::Saver& saver) const override {
    PluginFieldCollection const* const fields = runtime_->getFieldsToSerialize();
    if (!fields) throw ext::Error(TENON_FAILED, "getFieldsToSerialize gave nothing" + take_errors());
    for (int32_t k = 0; k < fields->nbFields; ++k) {
      PluginField const& f = fields->fields[k];
      saver.put(tenon_field{sizeof(tenon_field), f.name, static_cast<int32_t>(f.type), f.length, f.data});
    }
  }
  std::unique_ptr<Object> attach() override {
    std::unique_ptr<IPluginV3> copy(runtime_->attachToContext(&resource_context()));
    if (!copy) throw ext::Error(TENON_FAILED, "attachToContext gave nothing" + take_errors());
    return std::make_unique<ObjectV3>(std::move(copy));
  }
  void shapes_changed(const Descs& inputs, const Descs& outputs) override {
    check("onShapeChange", runtime_->onShapeChange(inputs.data(), size_of(inputs.size()), outputs.data(), size_of(outputs.size())));
  }
  void enqueue(const Descs& inputs, const Descs& outputs, const std::vector<const void*>& from, const std::vector<void*>& to,
               void* workspace, int32_t tactic) override {
    if (tactic != tactic_) check("setTactic", runtime_->setTactic(tactic));
    tactic_ = tactic;
    check("enqueue", runtime_->enqueue(inputs.data(), outputs.data(), from.data(), to.data(), workspace, nullptr));
  }

 private:
  IPluginV3OneBuild& build() const {
    if (!build_) throw ext::Error(TENON_NOT_SUPPORTED, "the plugin has no capability kBUILD, which gives types, sizes and workspaces");
    return *build_;
  }

  std::unique_ptr<IPluginV3> own_;
  IPluginV3OneBuild* build_;
  IPluginV3OneRuntime* runtime_;
  int32_t tactic_ = 0;
};

}  // namespace tenon::trt::detail
