// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace tenon::ops {

/// Operand numbers of RaggedAttention.
enum RaggedInput : size_t { kRaggedQuery, kRaggedKey, kRaggedValue, kQueryStarts, kKeyStarts, kLongest, kRaggedMask };

}  // namespace tenon::ops
