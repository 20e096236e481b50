// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "ops/core/op.h"
#include "runtime/engine.h"

namespace tenon::backends::reference {

/// Runs opaque ops through their reference functions. `ops` outlives the device. Linked by programs whose engines need it.
std::shared_ptr<const runtime::OpaqueDevice> device(const ir::OpTable& ops = ops::table());

}  // namespace tenon::backends::reference
