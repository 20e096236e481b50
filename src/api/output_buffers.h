// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/state.h"

namespace tenon::inline v1 {

/// One a port, in the engine's order; `data` is null where the caller gave none. Errors: bad_input for an unknown name, a port that is no
/// tensor of numbers, another type, or a byte size that does not fit dtype and shape.
base::Result<std::vector<OutputBuffer>> buffers_in_order(const OutputBuffers& named, std::span<const Port> ports);
/// Errors: bad_input for a port that is no tensor of numbers, or another type.
base::Result<void> check_buffer_type(const OutputBuffer& buffer, const Port& port);
/// Errors: as check_buffer_type(); also bad_input for a byte size that does not fit dtype and shape, or no memory.
base::Result<void> check_buffer(const OutputBuffer& buffer, const Port& port);
/// Errors: bad_usage where a buffer shares bytes with an input or another buffer, which kernels may read after they wrote it.
base::Result<void> check_overlaps(std::span<const Array> inputs, std::span<const OutputBuffer> buffers);
/// Errors: bad_input where the result has another shape.
base::Result<void> check_shape(const OutputBuffer& buffer, const std::vector<int64_t>& shape, const std::string& name);

/// Copies a result that lies elsewhere (in another result's memory, or where a device put it) to the memory of the caller's. Errors: as
/// check_shape.
base::Result<Array> moved_into(const OutputBuffer& buffer, const base::Tensor& t, const std::string& name);

}  // namespace tenon::inline v1
