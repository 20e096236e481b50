// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/program.h"

namespace tenon::runtime {

inline bool is_held(const BufferInfo& b) { return b.held.kind != ValueKind::tensor; }
inline bool is_held(const PortInfo& p) { return p.held.kind != ValueKind::tensor; }
/// Is the value of that kind, and every tensor in it as promised? dtype: of the tensors.
bool is_as_promised(const Held& held, DType dtype, const Tensor& value);
/// "seq(f32[2,?])", "optional(seq(i64[*]))"
std::string text_of(const Held& held, DType dtype);

}  // namespace tenon::runtime
