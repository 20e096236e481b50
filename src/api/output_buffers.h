// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/state.h"

namespace tenon::inline v1 {

/// One buffer for each port, in the engine's order; `data` is null where the caller gave none. Errors: bad_input for an unknown name, a
/// port that is no tensor of numbers, another type, or a byte size that does not fit dtype and shape.
base::Result<std::vector<OutputBuffer>> buffers_in_order(const OutputBuffers& named, std::span<const Port> ports);
/// Checks that a buffer has the port's dtype. Errors: bad_input for a port that is no tensor of numbers, or another type.
base::Result<void> check_buffer_type(const OutputBuffer& buffer, const Port& port);
/// Checks type and size of a buffer. Errors: those of check_buffer_type(); bad_input for a byte size that does not fit dtype and shape, or
/// no memory.
base::Result<void> check_buffer(const OutputBuffer& buffer, const Port& port);
/// Checks that no memory overlaps. Errors: bad_usage where a buffer shares bytes with an input or another buffer, which kernels may read
/// after they wrote it.
base::Result<void> check_overlaps(std::span<const Array> inputs, std::span<const OutputBuffer> buffers);
/// Checks that a result has the buffer's shape. Errors: bad_input.
base::Result<void> check_shape(const OutputBuffer& buffer, const std::vector<int64_t>& shape, const std::string& name);

/// Copies a result that is in other memory (of another result, or of a device) to the caller's buffer. Errors: those of check_shape().
base::Result<Array> moved_into(const OutputBuffer& buffer, const base::Tensor& t, const std::string& name);

}  // namespace tenon::inline v1
