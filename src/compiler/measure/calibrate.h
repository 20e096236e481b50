// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Measures the overheads of a backend on this machine: the time to launch a segment and, where the backend has a memory of its own, to
/// copy a value across a segment boundary. Each is the difference of two engines that differ in that alone, less the same difference on the
/// host backend. Launch: one op on 16 numbers. A value: 9 operands instead of 2. A byte: one number gathered from operands of 64 KiB to 16
/// MiB, by least squares. A result below the resolution of the clock is 0.
///
/// backend_index: of `backends`, which include the host backend. options.measuring has the runner; times are not stored.
/// Errors: not_supported where the backend refuses or fails to run a measured graph; those of EngineRunner::time.
Result<backend::Overheads> calibrate(const backend::Backends& backends, size_t backend_index, const ir::OpTable& ops,
                                     const CompileOptions& options);

}  // namespace tenon::compiler
