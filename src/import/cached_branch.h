// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx_model.h"

namespace tenon::import {

/// For merged decoders (optimum's decoder_model_merged.onnx): replaces each If whose condition is the input `use_cache_branch` by the nodes
/// of its then_branch, which reads the cache (an empty cache too). Cost: linear in the nodes.
void take_cached_branch(OnnxGraph& graph);

}  // namespace tenon::import
