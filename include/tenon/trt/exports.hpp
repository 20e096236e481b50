// SPDX-License-Identifier: Apache-2.0
// What a library may export, declared as TensorRT-LLM's own header declares it. Not part of tenon/trt.hpp: a library that has declarations
// of its own keeps them.
#pragma once
#include "tenon/trt/helpers.hpp"

extern "C" {

/// Registers the library's creators; called when Tenon opens the library. Once is enough: it may be called again.
TENSORRTAPI bool initTrtLlmPlugins(void* logger, char const* libNamespace = tenon::trt::api::kDefaultNamespace);
TENSORRTAPI void setLoggerFinder(tenon::trt::ILoggerFinder* finder);
TENSORRTAPI tenon::trt::IPluginCreator* const* getPluginCreators(int32_t& nbCreators);
TENSORRTAPI tenon::trt::IPluginCreatorInterface* const* getCreators(int32_t& nbCreators);
}
