// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "program/build.h"
#include "runtime/device.h"

namespace tenon::compiler {

/// Creates each segment of a linked program once, on the devices where that is quick, so that a blob that a device cannot read is an error
/// of the build and not of the first run. Errors: those of Device::make, with the step. Cost: that of the segments' texts; weights that are
/// lazy are materialised.
Result<void> check_segments(const program::LinkedPrograms& built, const runtime::Devices& devices);

}  // namespace tenon::compiler
