// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx_model.h"

namespace tenon::import {

/// Of merged decoders (optimum's decoder_model_merged.onnx): each If whose condition is the input `use_cache_branch` is replaced by the
/// nodes of its then_branch, which reads the cache, also one without rows. Cost: the nodes.
void take_cached_branch(OnnxGraph& graph);

}  // namespace tenon::import
