// SPDX-License-Identifier: Apache-2.0
/// Plugins that were written for TensorRT, for Tenon: the same interfaces in namespace tenon::trt. Put
///
///     #include <tenon/trt.hpp>
///     namespace nvinfer1 = tenon::trt;
///
/// in place of TensorRT's headers, compute on the host where CUDA was, and compile a library; Tenon opens it as it opens any other:
///
///     c++ -std=c++17 -shared -fPIC -Iinclude gemm.cpp -o gemm.so
///
/// Its ops are the creators that REGISTER_TENSORRT_PLUGIN or getPluginRegistry()->registerCreator registered while the library was opened
/// or in its initTrtLlmPlugins, and those that it exports by getCreators or getPluginCreators. A node's domain is the namespace: the one
/// that a creator was registered for, else its own, else "trt.plugins". Streams are null; descriptions are row-major (kLINEAR).
///
/// Life: createPlugin of each node (phase kBUILD), then types, dims, formats and configurePlugin, then the state: one field of bytes of
/// IPluginV2, the fields of getFieldsToSerialize of IPluginV3. When the engine is loaded: deserializePlugin and initialize, or createPlugin
/// (kRUNTIME); a clone or attachToContext for each context; configurePlugin or onShapeChange before runs of new sizes; enqueue.
#pragma once
#include "tenon/trt/adapter/library.hpp"
#include "tenon/trt/helpers.hpp"
#include "tenon/trt/logging.hpp"
#include "tenon/trt/plugin_v2.hpp"
#include "tenon/trt/plugin_v3.hpp"
#include "tenon/trt/registry.hpp"

/// The library's one symbol, whichever of its files include this one.
extern "C" __attribute__((used)) TENON_EXPORT inline const tenon_library* tenon_plugin_library(const tenon_host* host) {
  return tenon::trt::detail::library(host);
}
