// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "program/build.h"
#include "runtime/device.h"

namespace tenon::compiler {

/// Creates each segment of a linked program once, on those devices that do so quickly, so that a blob that a device cannot read is an error
/// of the build and not of the first run. Errors: those of Device::make, with the step. Cost: reads the segments' blobs; materialises their
/// lazy weights.
Result<void> check_segments(const program::LinkedPrograms& built, const runtime::Devices& devices);

}  // namespace tenon::compiler
