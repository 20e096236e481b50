// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// What a backend takes here to start a segment and, where it has a memory of its own, to bring a value over a border: from engines that
/// differ by that alone, and of the same engines in kernels. A start: one op of sixteen numbers. A value: nine operands in place of two. A
/// byte: one number picked from operands of 64 KiB to 16 MiB, by least squares. What is below the resolution is 0.
///
/// `b`: of `backends`, among which is the host backend. options.measuring says how times are taken; nothing of them is kept.
/// Errors: not_supported where the backend refuses or fails to run what is timed; those of Stopwatch::time.
Result<backend::Overheads> calibrate(const backend::Backends& backends, size_t b, const ir::OpTable& ops, const CompileOptions& options);

}  // namespace tenon::compiler
