// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <random>
#include <span>
#include <string>
#include <vector>

#include "files/npz.h"
#include "runtime/program.h"

namespace tenon::compiler {

/// A tensor of the port's dtype: normal floats; integers are 0 or 1, those of masks 1; texts are "0" or "1".
Result<Tensor> random_tensor(const runtime::PortInfo& port, const Sizes& shape, std::mt19937_64& random);
/// The value of a port that is no tensor, from the arrays whose names belong to it: an optional tensor is NAME; a sequence NAME/0, NAME/1,
/// ...; a map NAME/keys and NAME/values. Where there are none it is drawn: two elements, three keys. Errors: bad_input.
Result<Tensor> held_value(const runtime::PortInfo& port, const files::NamedTensors& given, std::mt19937_64& random);
/// One for each port without a default, of default_shapes(); the same in every process.
Result<std::vector<Tensor>> drawn_inputs(std::span<const runtime::PortInfo> ports);
/// What a port's tensors are called, for people.
std::string names_of_parts(const runtime::PortInfo& port);
/// Is `name` that of the port, or of a tensor in it?
bool names_part_of(const std::string& name, const runtime::PortInfo& port);

}  // namespace tenon::compiler
