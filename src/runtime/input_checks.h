// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "base/tensor.h"
#include "runtime/program.h"

namespace tenon::runtime {

/// "output 'logits'", for errors.
std::string port_place(const char* what, const PortInfo& port);

/// Number, dtypes, ranks and ranges of the inputs. Errors: bad_input; not_supported for bytes outside of host memory.
Result<void> check_types(const Program& program, std::span<const Tensor> inputs);
/// Once the lines that depend on input shapes alone are known: each dimension must be what its line says. Errors: bad_input.
Result<void> check_shapes(const Program& program, std::span<const Tensor> inputs, const std::vector<int64_t>& sizes);
/// Token numbers and the like: an index outside its table is an error, not a wrong row. Errors: index_out_of_range. Cost: reads them.
Result<void> check_elements(const Program& program, std::span<const Tensor> inputs, const std::vector<int64_t>& sizes);

}  // namespace tenon::runtime
