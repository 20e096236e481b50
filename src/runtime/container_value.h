// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/program.h"

namespace tenon::runtime {

inline bool is_container(const BufferInfo& b) { return b.container.kind != ValueKind::tensor; }
inline bool is_container(const PortInfo& p) { return p.container.kind != ValueKind::tensor; }
/// Is the value of that kind, and every tensor in it as promised? dtype: of the tensors.
bool is_as_promised(const ContainerInfo& container, DType dtype, const Tensor& value);
/// "seq(f32[2,?])", "optional(seq(i64[*]))"
std::string text_of(const ContainerInfo& container, DType dtype);

}  // namespace tenon::runtime
