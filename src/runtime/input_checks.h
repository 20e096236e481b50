// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "base/tensor.h"
#include "runtime/program.h"

namespace tenon::runtime {

/// "output 'logits'", for errors.
std::string port_place(const char* what, const PortInfo& port);

/// Checks number, dtypes and ranks of the inputs, and the ranges of their dimensions. Errors: bad_input; not_supported for bytes outside of
/// host memory.
Result<void> check_types(const Program& program, std::span<const Tensor> inputs);
/// Checks each dimension of the inputs against the value of its line of the size table. Errors: bad_input.
Result<void> check_shapes(const Program& program, std::span<const Tensor> inputs, const std::vector<int64_t>& sizes);
/// Checks that elements of inputs that are used as indices (token ids, ...) are within PortInfo::limits. Errors: index_out_of_range. Cost:
/// reads them.
Result<void> check_elements(const Program& program, std::span<const Tensor> inputs, const std::vector<int64_t>& sizes);

}  // namespace tenon::runtime
