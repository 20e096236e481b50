// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.h"
#include "base/tensor.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

/// Checks a tensor that a library passed, and returns a view of it. It must be dense, with data unless it has no elements. place: of
/// errors. Errors: bad_input, not_supported.
Result<Tensor> given_tensor(const tenon_tensor* tensor, const std::string& place);

}  // namespace tenon::plugin
