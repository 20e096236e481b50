// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "program/build.h"
#include "runtime/device.h"

namespace tenon::compiler {

/// Makes each segment of a linked program once, on the devices that do so quickly: what they cannot read is an error at build, not in the
/// first run. Errors: those of Device::make, with the step. Cost: that of the segments' texts; weights that are lazy are materialised.
Result<void> check_segments(const program::LinkedPrograms& built, const runtime::Devices& devices);

}  // namespace tenon::compiler
