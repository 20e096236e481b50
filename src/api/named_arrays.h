// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/state.h"

namespace tenon::inline v1 {

/// Named arrays in the order of the ports; an empty one for a default. Errors: bad_input for one that is missing, or that there is not.
base::Result<std::vector<Array>> in_order(const Arrays& named, std::span<const Port> ports);
/// The reverse: one result a port.
Arrays by_name(std::vector<Array> results, std::span<const Port> ports);

}  // namespace tenon::inline v1
