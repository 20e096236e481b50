// SPDX-License-Identifier: Apache-2.0
// Plugins of the second generation. Version numbers and virtual functions that later classes hide are TensorRT's.
#pragma once
#include "tenon/trt/expressions.hpp"
#include "tenon/trt/plugin_v3.hpp"

namespace tenon::trt {

static constexpr int32_t kPLUGIN_VERSION_PYTHON_BIT = 0x40;

/// The top byte of getTensorRTVersion: which of the classes below a plugin is.
enum class PluginVersion : uint8_t {
  kV2 = 0,
  kV2_EXT = 1,
  kV2_IOEXT = 2,
  kV2_DYNAMICEXT = 3,
  kV2_DYNAMICEXT_PYTHON = kPLUGIN_VERSION_PYTHON_BIT | 3
};
enum class PluginCreatorVersion : int32_t { kV1 = 0, kV1_PYTHON = kPLUGIN_VERSION_PYTHON_BIT };

/// Sizes of this class, IPluginV2Ext and IPluginV2IOExt lack the batch, which is the first dimension.
class IPluginV2 {
 public:
  virtual int32_t getTensorRTVersion() const noexcept { return NV_TENSORRT_VERSION; }
  virtual AsciiChar const* getPluginType() const noexcept = 0;
  virtual AsciiChar const* getPluginVersion() const noexcept = 0;
  virtual int32_t getNbOutputs() const noexcept = 0;
  virtual Dims getOutputDimensions(int32_t index, Dims const* inputs, int32_t nbInputDims) noexcept = 0;
  virtual bool supportsFormat(DataType type, PluginFormat format) const noexcept = 0;
  virtual void configureWithFormat(Dims const* inputDims, int32_t nbInputs, Dims const* outputDims, int32_t nbOutputs, DataType type,
                                   PluginFormat format, int32_t maxBatchSize) noexcept = 0;
  virtual int32_t initialize() noexcept = 0;
  virtual void terminate() noexcept = 0;
  virtual size_t getWorkspaceSize(int32_t maxBatchSize) const noexcept = 0;
  virtual int32_t enqueue(int32_t batchSize, void const* const* inputs, void* const* outputs, void* workspace,
                          cudaStream_t stream) noexcept = 0;
  virtual size_t getSerializationSize() const noexcept = 0;
  virtual void serialize(void* buffer) const noexcept = 0;
  virtual void destroy() noexcept = 0;
  virtual IPluginV2* clone() const noexcept = 0;
  virtual void setPluginNamespace(AsciiChar const* pluginNamespace) noexcept = 0;
  virtual AsciiChar const* getPluginNamespace() const noexcept = 0;

  IPluginV2() = default;
  virtual ~IPluginV2() noexcept = default;

 protected:
  IPluginV2(IPluginV2 const&) = default;
  IPluginV2(IPluginV2&&) = default;
  IPluginV2& operator=(IPluginV2 const&) & = default;
  IPluginV2& operator=(IPluginV2&&) & = default;
  static int32_t versionOf(PluginVersion kind) {
    return static_cast<int32_t>(static_cast<uint32_t>(kind) << 24U | (static_cast<uint32_t>(NV_TENSORRT_VERSION) & 0xFFFFFFU));
  }
};

class IPluginV2Ext : public IPluginV2 {
 public:
  virtual DataType getOutputDataType(int32_t index, DataType const* inputTypes, int32_t nbInputs) const noexcept = 0;
  virtual void configurePlugin(Dims const* inputDims, int32_t nbInputs, Dims const* outputDims, int32_t nbOutputs,
                               DataType const* inputTypes, DataType const* outputTypes, bool const* inputIsBroadcast,
                               bool const* outputIsBroadcast, PluginFormat floatFormat, int32_t maxBatchSize) noexcept = 0;
  virtual bool isOutputBroadcastAcrossBatch(int32_t /*outputIndex*/, bool const* /*inputIsBroadcasted*/,
                                            int32_t /*nbInputs*/) const noexcept {
    return false;
  }
  virtual bool canBroadcastInputAcrossBatch(int32_t /*inputIndex*/) const noexcept { return false; }
  virtual void attachToContext(cudnnContext* /*cudnn*/, cublasContext* /*cublas*/, IGpuAllocator* /*allocator*/) noexcept {}
  virtual void detachFromContext() noexcept {}
  IPluginV2Ext* clone() const noexcept override = 0;

 protected:
  int32_t getTensorRTVersion() const noexcept override { return versionOf(PluginVersion::kV2_EXT); }
  void configureWithFormat(Dims const*, int32_t, Dims const*, int32_t, DataType, PluginFormat, int32_t) noexcept override {}
};

class IPluginV2IOExt : public IPluginV2Ext {
 public:
  virtual void configurePlugin(PluginTensorDesc const* in, int32_t nbInput, PluginTensorDesc const* out, int32_t nbOutput) noexcept = 0;
  virtual bool supportsFormatCombination(int32_t pos, PluginTensorDesc const* inOut, int32_t nbInputs,
                                         int32_t nbOutputs) const noexcept = 0;

 protected:
  int32_t getTensorRTVersion() const noexcept override { return versionOf(PluginVersion::kV2_IOEXT); }

 private:
  void configurePlugin(Dims const*, int32_t, Dims const*, int32_t, DataType const*, DataType const*, bool const*, bool const*, PluginFormat,
                       int32_t) noexcept final {}
  bool supportsFormat(DataType, PluginFormat) const noexcept final { return false; }
};

class IPluginV2DynamicExt : public IPluginV2Ext {
 public:
  static constexpr int32_t kFORMAT_COMBINATION_LIMIT = 100;
  IPluginV2DynamicExt* clone() const noexcept override = 0;
  virtual DimsExprs getOutputDimensions(int32_t outputIndex, DimsExprs const* inputs, int32_t nbInputs,
                                        IExprBuilder& exprBuilder) noexcept = 0;
  virtual bool supportsFormatCombination(int32_t pos, PluginTensorDesc const* inOut, int32_t nbInputs, int32_t nbOutputs) noexcept = 0;
  virtual void configurePlugin(DynamicPluginTensorDesc const* in, int32_t nbInputs, DynamicPluginTensorDesc const* out,
                               int32_t nbOutputs) noexcept = 0;
  virtual size_t getWorkspaceSize(PluginTensorDesc const* inputs, int32_t nbInputs, PluginTensorDesc const* outputs,
                                  int32_t nbOutputs) const noexcept = 0;
  virtual int32_t enqueue(PluginTensorDesc const* inputDesc, PluginTensorDesc const* outputDesc, void const* const* inputs,
                          void* const* outputs, void* workspace, cudaStream_t stream) noexcept = 0;

 protected:
  int32_t getTensorRTVersion() const noexcept override { return versionOf(PluginVersion::kV2_DYNAMICEXT); }

 private:
  void configurePlugin(Dims const*, int32_t, Dims const*, int32_t, DataType const*, DataType const*, bool const*, bool const*, PluginFormat,
                       int32_t) noexcept final {}
  bool supportsFormat(DataType, PluginFormat) const noexcept final { return false; }
  Dims getOutputDimensions(int32_t, Dims const*, int32_t) noexcept final { return Dims{-1, {}}; }
  bool isOutputBroadcastAcrossBatch(int32_t, bool const*, int32_t) const noexcept final { return false; }
  bool canBroadcastInputAcrossBatch(int32_t) const noexcept final { return true; }
  size_t getWorkspaceSize(int32_t) const noexcept final { return 0; }
  int32_t enqueue(int32_t, void const* const*, void* const*, void*, cudaStream_t) noexcept final { return 1; }
};

class IPluginCreator : public IPluginCreatorInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"PLUGIN CREATOR_V1", 1, 0}; }
  virtual AsciiChar const* getPluginName() const noexcept = 0;
  virtual AsciiChar const* getPluginVersion() const noexcept = 0;
  virtual PluginFieldCollection const* getFieldNames() noexcept = 0;
  /// Null: an error, which was logged.
  virtual IPluginV2* createPlugin(AsciiChar const* name, PluginFieldCollection const* fc) noexcept = 0;
  virtual IPluginV2* deserializePlugin(AsciiChar const* name, void const* serialData, size_t serialLength) noexcept = 0;
  virtual void setPluginNamespace(AsciiChar const* pluginNamespace) noexcept = 0;
  virtual AsciiChar const* getPluginNamespace() const noexcept = 0;
};

}  // namespace tenon::trt
