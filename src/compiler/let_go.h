// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "files/mapped_file.h"
#include "ir/constant.h"

namespace tenon::compiler {

/// The model's file need not be in memory any more where a constant was read: packed weights stand beside it.
inline void let_go(const ir::Constant& constant) {
  constant.each_tensor([](const Tensor& t) { files::MappedFile::let_go({t.data(), static_cast<size_t>(t.byte_size())}); });
}

}  // namespace tenon::compiler
