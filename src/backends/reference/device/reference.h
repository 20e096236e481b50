// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "ops/core/op.h"
#include "runtime/device.h"

namespace tenon::backends::reference {

/// Runs segments through the reference functions of their ops, which are of that table; it outlives the device. No `DEVICE` of the folder
/// listing, because it needs the ops.
std::shared_ptr<const runtime::Device> device(const ir::OpTable& ops = ops::table());

}  // namespace tenon::backends::reference
