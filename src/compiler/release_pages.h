// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "files/mapped_file.h"
#include "ir/constant.h"

namespace tenon::compiler {

/// Releases the pages of the model's file that hold a constant's tensors, after these were copied elsewhere.
inline void release_pages(const ir::Constant& constant) {
  constant.each_tensor([](const Tensor& t) { files::MappedFile::release_pages({t.data(), static_cast<size_t>(t.byte_size())}); });
}

}  // namespace tenon::compiler
