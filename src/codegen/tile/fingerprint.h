// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/hash.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen {

/// A hash of all that the kernel is, its name included: kernels with one fingerprint have equal code. Cost: linear in it.
Hash128 fingerprint_of(const TileKernel& kernel);

}  // namespace tenon::codegen
