// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/program.h"

namespace tenon::runtime {

inline bool is_container(const BufferInfo& b) { return b.container.kind != ValueKind::tensor; }
inline bool is_container(const PortInfo& p) { return p.container.kind != ValueKind::tensor; }
/// Whether the value has the declared type: the kind, and the dtype and shape of every tensor in it. dtype: declared for the tensors.
bool has_declared_type(const ContainerInfo& container, DType dtype, const Tensor& value);
/// "seq(f32[2,?])", "optional(seq(i64[*]))"
std::string text_of(const ContainerInfo& container, DType dtype);

}  // namespace tenon::runtime
