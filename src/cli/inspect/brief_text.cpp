// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/brief_text.h"

#include "ir/literal.h"

namespace tenon::cli {

std::string brief_text(const Tensor& value) {
  return value.count() <= kMostShown ? ir::elements_text(value) : type_text(value.dtype(), value.shape());
}

}  // namespace tenon::cli
