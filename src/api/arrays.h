// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/state.h"

namespace tenon::inline v1 {

/// A tensor over the caller's array: a view (strings are copied). Errors: bad_input where bytes and shape do not fit.
base::Result<base::Tensor> tensor_of(const Array& array, const std::string& name);
/// A view of a result whose memory a context owns.
Array view_of(const base::Tensor& tensor);
/// An array of a result that may outlive its context: shares the tensor's bytes where it owns them, copies them where it does not.
base::Result<Array> owned_array(const base::Tensor& tensor);

}  // namespace tenon::inline v1
