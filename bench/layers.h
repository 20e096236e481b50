// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>

#include "ir/graph.h"

namespace tenon::bench {

/// A made-up model of about so many nodes (25 a layer). Dims are symbolic; weights are slices of one buffer.
/// 'M': as exporters write them: LayerNorm taken apart (9), MatMul and Add, Reshape-Transpose-Transpose-Reshape, a Cast that casts
/// nothing, Identity, Unsqueeze-Squeeze, erf Gelu taken apart (5), the residual Add. 'N': no rule of Tenon's pipeline matches anywhere.
std::unique_ptr<ir::Graph> make_model(char model, int64_t nodes);

}  // namespace tenon::bench
