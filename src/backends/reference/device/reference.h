// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/engine.h"

namespace tenon::backends::reference {

/// Runs opaque ops through their reference functions. Linked by programs whose engines need it.
const runtime::OpaqueDevice& device();

}  // namespace tenon::backends::reference
