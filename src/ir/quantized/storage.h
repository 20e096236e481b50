// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/constant.h"

namespace tenon::ir {

/// How the elements of a constant are stored before they are decoded or cast.
struct Storage {
  const BlockFormat* blocks = nullptr;  ///< of all elements; nullptr: they are not in blocks, or in blocks of several formats
  DType dtype = DType::f32;             ///< of the elements before a cast

  bool operator==(const Storage&) const = default;
};

/// Through slices, permutes, reshapes and concatenations. A concatenation of parts that are stored in different ways counts as decoded.
/// Cost: the size of the expression.
Storage storage_of(const Constant& constant);

}  // namespace tenon::ir
