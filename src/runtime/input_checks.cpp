// SPDX-License-Identifier: Apache-2.0
#include "runtime/input_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/container_value.h"

namespace tenon::runtime {

namespace {

std::string shape_text(const Sizes& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string port_type(const PortInfo& port) { return fmt::format("{}[{}]", name_of(port.dtype), fmt::join(port.dimensions, ",")); }

Result<void> check_type(const PortInfo& port, const Tensor& t) {
  auto wrong = [&](std::string what) { return fail(Code::bad_input, port_place("input", port), std::move(what)); };
  if (is_container(port)) {
    if (has_declared_type(port.container, port.dtype, t)) return {};
    return wrong("the value has another kind, or a tensor in it another type")
        .expected(text_of(port.container, port.dtype))
        .found(type_text(t));
  }
  if (t.dtype() != port.dtype)
    return wrong("wrong dtype").expected(port_type(port)).found(type_text(t)).advice("convert the array before the call");
  if (t.shape().size() != port.shape.size()) return wrong("wrong rank").expected(port_type(port)).found(type_text(t.dtype(), t.shape()));
  for (size_t d = 0; d < t.shape().size(); ++d)
    if (t.shape()[d] < port.lower[d] || t.shape()[d] > port.upper[d])
      return wrong(fmt::format("dimension {} is out of its range", d))
          .expected(port.lower[d] == port.upper[d] ? std::to_string(port.lower[d])
                                                   : fmt::format("{} between {} and {}", port.dimensions[d], port.lower[d], port.upper[d]))
          .found(shape_text(t.shape()));
  return {};
}

Result<void> check_shape(const Program& program, const PortInfo& port, const Tensor& t, const std::vector<int64_t>& sizes) {
  for (size_t d = 0; d < port.shape.size(); ++d) {
    if (port.shape[d] >= program.input_lines || sizes[port.shape[d]] == t.shape()[d]) continue;
    return fail(Code::bad_input, port_place("input", port), fmt::format("dimension {} does not fit the other inputs", d))
        .expected(fmt::format("{} = {}", port.dimensions[d], sizes[port.shape[d]]))
        .found(shape_text(t.shape()))
        .advice("every dimension of one name must have one size");
  }
  return {};
}

template <class T>
Result<void> check_range(const PortInfo& port, std::span<const T> values, int64_t lowest, int64_t extent) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < lowest || values[i] >= extent)
      return fail(Code::index_out_of_range, port_place("input", port),
                  fmt::format("element {} is outside the table that it points into", i))
          .expected(fmt::format("{} .. {}", lowest, extent - 1))
          .found(std::to_string(values[i]))
          .advice("check the tokenizer's vocabulary against the model's");
  return {};
}

}  // namespace

std::string port_place(const char* what, const PortInfo& port) { return fmt::format("{} '{}'", what, port.name); }

Result<void> check_types(const Program& program, std::span<const Tensor> inputs) {
  if (inputs.size() != program.inputs.size())
    return fail(Code::bad_input, "run", "wrong number of inputs")
        .expected(std::to_string(program.inputs.size()))
        .found(std::to_string(inputs.size()));
  for (size_t k = 0; k < inputs.size(); ++k) {
    TRY(check_type(program.inputs[k], inputs[k]));
    if (auto on_host = check_on_host(inputs[k], ""); !on_host) return std::move(on_host).error().at(port_place("input", program.inputs[k]));
  }
  return {};
}

Result<void> check_shapes(const Program& program, std::span<const Tensor> inputs, const std::vector<int64_t>& sizes) {
  for (size_t k = 0; k < inputs.size(); ++k) TRY(check_shape(program, program.inputs[k], inputs[k], sizes));
  return {};
}

Result<void> check_elements(const Program& program, std::span<const Tensor> inputs, const std::vector<int64_t>& sizes) {
  for (size_t k = 0; k < inputs.size(); ++k)
    for (const ElementLimit& limit : program.inputs[k].limits) {
      const int64_t extent = sizes[limit.extent], lowest = limit.from_end ? -extent : 0;
      if (inputs[k].dtype() == DType::i64) TRY(check_range(program.inputs[k], inputs[k].as<int64_t>(), lowest, extent));
      if (inputs[k].dtype() == DType::i32) TRY(check_range(program.inputs[k], inputs[k].as<int32_t>(), lowest, extent));
    }
  return {};
}

}  // namespace tenon::runtime
