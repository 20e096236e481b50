// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/state.h"

namespace tenon::inline v1 {

/// Named arrays in the order of the ports; an empty array where a port's default is used. Errors: bad_input for a missing or unknown name.
base::Result<std::vector<Array>> in_order(const Arrays& named, std::span<const Port> ports);
/// Results in the order of the ports as named arrays.
Arrays by_name(std::vector<Array> results, std::span<const Port> ports);

}  // namespace tenon::inline v1
