// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.h"
#include "base/tensor.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

/// A view of a tensor that a library gives: dense, with elements where it has any. place: for errors. Errors: bad_input, not_supported.
Result<Tensor> given_tensor(const tenon_tensor* tensor, const std::string& place);

}  // namespace tenon::plugin
