// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "files/mapped_file.h"
#include "ir/constant.h"

namespace tenon::compiler {

/// The model's file need not be in memory any more where a constant was read: packed weights are elsewhere.
inline void release_pages(const ir::Constant& constant) {
  constant.each_tensor([](const Tensor& t) { files::MappedFile::release_pages({t.data(), static_cast<size_t>(t.byte_size())}); });
}

}  // namespace tenon::compiler
