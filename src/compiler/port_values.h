// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <random>
#include <span>
#include <string>
#include <vector>

#include "files/npz.h"
#include "runtime/program.h"

namespace tenon::compiler {

/// A random tensor of the port's dtype: normally distributed floats; integers 0 or 1, of masks 1; strings "0" or "1".
Result<Tensor> random_tensor(const runtime::PortInfo& port, const Sizes& shape, std::mt19937_64& random);
/// The value of a port that is a sequence, map or optional value, from the arrays of its elements: an optional tensor is NAME; a sequence
/// NAME/0, NAME/1, ...; a map NAME/keys and NAME/values. Without such arrays it is random: two elements, three keys. Errors: bad_input.
Result<Tensor> container_value(const runtime::PortInfo& port, const files::NamedTensors& given, std::mt19937_64& random);
/// Random inputs for the ports without a default, in default_shapes(), with a fixed seed: equal in every process.
Result<std::vector<Tensor>> drawn_inputs(std::span<const runtime::PortInfo> ports);
/// The names of the arrays of a port, for messages.
std::string array_names_of(const runtime::PortInfo& port);
/// Whether `name` is an array of the port: the port itself, or an element of its sequence or map.
bool is_array_of(const std::string& name, const runtime::PortInfo& port);

}  // namespace tenon::compiler
