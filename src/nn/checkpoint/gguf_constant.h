// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "files/gguf.h"
#include "ir/constant.h"

namespace tenon::nn {

/// The tensor's elements as an f32 constant, decoded when it is materialised. keeper: owner of the tensor's bytes.
ir::ConstantRef gguf_constant(const files::Gguf::Tensor& tensor, std::shared_ptr<const void> keeper);

}  // namespace tenon::nn
