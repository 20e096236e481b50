// SPDX-License-Identifier: Apache-2.0
#include "api/c/arrays.h"

#include <algorithm>

#include "base/checked.h"

#include "api/output_buffers.h"

namespace tenon::inline v1 {

namespace {

constexpr int32_t kMostDType = static_cast<int32_t>(DType::i2);

/// Whether the caller left the array out.
bool is_absent(const tenon_array& a) { return a.dtype == TENON_DTYPE_NONE && a.data == nullptr && a.bytes == 0; }

/// Errors: bad_input for a dtype or rank that there is not, or no shape.
base::Result<void> check_type(const tenon_array& a, const std::string& place) {
  if (a.dtype <= TENON_DTYPE_NONE || a.dtype > kMostDType)
    return refusal(Code::bad_input, place, "the array has no element type that there is", "a TENON_DTYPE_ of tenon/runtime.h",
                   std::to_string(a.dtype), "set dtype");
  if (a.rank < 0 || a.rank > TENON_ARRAY_MAX_RANK)
    return refusal(Code::bad_input, place, "the array's rank is out of range", "0 .. " + std::to_string(TENON_ARRAY_MAX_RANK),
                   std::to_string(a.rank), "set rank to the number of sizes in shape");
  return {};
}

base::Result<std::vector<int64_t>> shape_of(const tenon_array& a, const std::string& place) {
  if (a.rank > 0 && a.shape == nullptr)
    return refusal(Code::bad_input, place, "the array has no shape", std::to_string(a.rank) + " sizes", "a null pointer",
                   "set shape, or rank 0 for a scalar");
  return std::vector<int64_t>(a.shape, a.shape + a.rank);
}

base::Result<void> check_rank(const tenon_array& a, const Port& port, const std::string& place) {
  if (static_cast<size_t>(a.rank) == port.dimensions.size()) return {};
  return refusal(Code::bad_input, place, "the array has another rank", std::to_string(port.dimensions.size()), std::to_string(a.rank),
                 "give the array the shape that the engine describes");
}

base::Result<void> check_no_container(const Port& port, const std::string& place) {
  if (port.kind == ValueKind::tensor) return {};
  return refusal(Code::not_supported, place, "not supported yet: sequences, optionals and maps in C", "a tensor",
                 "a value that holds tensors", "run this model from C++ or Python");
}

/// Copies the elements, which the array keeps.
base::Result<Array> string_array(const tenon_array& a, std::vector<int64_t> shape, const std::string& place) {
  const auto count = base::checked_count(shape);
  if (!count || a.bytes / sizeof(tenon_string) != static_cast<size_t>(*count) || a.bytes % sizeof(tenon_string) != 0 ||
      (*count > 0 && a.data == nullptr))
    return refusal(Code::bad_input, place, "the array's memory does not fit its shape", "one tenon_string an element",
                   a.data == nullptr ? "a null pointer" : std::to_string(a.bytes) + " bytes", "set bytes to those of the elements");
  auto strings = std::make_shared<std::vector<std::string>>();
  for (const tenon_string& s : std::span(static_cast<const tenon_string*>(a.data), static_cast<size_t>(*count))) {
    if (s.data == nullptr && s.size > 0)
      return refusal(Code::bad_input, place, "an element's text is missing", std::to_string(s.size) + " bytes", "a null pointer",
                     "set data of each tenon_string");
    strings->emplace_back(s.data == nullptr ? "" : s.data, s.size);
  }
  return Array(DType::string, std::move(shape), strings->data(), strings->size() * sizeof(std::string), strings);
}

base::Result<Array> input_of(const tenon_array& a, const Port& port) {
  const std::string place = "input '" + port.name + "'";
  TRY(check_no_container(port, place));
  TRY(check_type(a, place));
  TRY(check_rank(a, port, place));
  auto shape = TRY(shape_of(a, place));
  if (a.dtype == TENON_DTYPE_STRING) return string_array(a, std::move(shape), place);
  return Array(static_cast<DType>(a.dtype), std::move(shape), a.data, a.bytes);
}

/// The array's port: that of its name, or of its position. kind: "input".
base::Result<size_t> port_of(const tenon_array& a, size_t position, std::span<const Port> ports, const std::string& kind) {
  if (a.name == nullptr && position < ports.size()) return position;
  if (a.name == nullptr)
    return refusal(Code::bad_input, kind + "s", "there are more arrays than the entry has " + kind + "s",
                   std::to_string(ports.size()) + " at most", "one at position " + std::to_string(position), "leave it out");
  const auto found = std::ranges::find(ports, std::string_view(a.name), &Port::name);
  if (found != ports.end()) return static_cast<size_t>(found - ports.begin());
  std::vector<std::string> names;
  for (const Port& p : ports) names.push_back(p.name);
  return no_such_name(kind, a.name, names, Code::bad_input);
}

/// The arrays of a list, one a port: all 0 where there is none. Errors: bad_usage, bad_input.
base::Result<std::vector<tenon_array>> arrays_by_port(const tenon_array* list, size_t count, std::span<const Port> ports,
                                                      const std::string& kind) {
  const std::string argument = kind + "s";
  if (count > 0) TRY(check_not_null(list, argument.c_str()));
  std::vector<tenon_array> out(ports.size());
  const size_t stride = count > 0 ? list->struct_size : 0;
  for (size_t k = 0; k < count; ++k) {
    const auto* const at = reinterpret_cast<const tenon_array*>(reinterpret_cast<const std::byte*>(list) + k * stride);
    const tenon_array a = TRY(read_struct(at, argument.c_str()));
    if (a.struct_size != stride)
      return refusal(Code::bad_usage, argument, "arrays of one list differ in struct_size", std::to_string(stride) + " bytes",
                     std::to_string(a.struct_size) + " bytes", "set struct_size to sizeof(tenon_array) in all of them");
    const size_t port = TRY(port_of(a, k, ports, kind));
    if (out[port].struct_size != 0)
      return refusal(Code::bad_usage, kind + " '" + ports[port].name + "'", "the array is given twice", "once", "twice",
                     "name each array once");
    out[port] = a;
  }
  return out;
}

base::Result<Destination> destination_of(const tenon_array& a, const Port& port) {
  const std::string place = "output '" + port.name + "'";
  if (a.data == nullptr && a.bytes == 0) return Destination();
  TRY(check_type(a, place));
  Destination out{{static_cast<DType>(a.dtype), {}, a.data, a.bytes}, a.shape != nullptr};
  if (a.shape != nullptr) TRY(check_rank(a, port, place));
  if (out.has_shape) out.buffer.shape = TRY(shape_of(a, place));
  TRY(out.has_shape ? check_buffer(out.buffer, port) : check_buffer_type(out.buffer, port));
  if (a.data != nullptr) return out;
  return refusal(Code::bad_input, place, "the memory is missing", std::to_string(a.bytes) + " bytes", "a null pointer",
                 "set data, or bytes to 0 to leave the result in the context");
}

}  // namespace

base::Result<std::vector<Array>> inputs_of(const tenon_array* list, size_t count, std::span<const Port> ports) {
  const auto arrays = TRY(arrays_by_port(list, count, ports, "input"));
  std::vector<Array> out;
  for (size_t k = 0; k < ports.size(); ++k) {
    if (is_absent(arrays[k]) && !ports[k].has_default)
      return refusal(Code::bad_input, "input '" + ports[k].name + "'", "the input is missing", "an array", "none",
                     "give every input a value, with its dtype");
    out.push_back(is_absent(arrays[k]) ? Array() : TRY(input_of(arrays[k], ports[k])));
  }
  return out;
}

base::Result<std::vector<Destination>> destinations_of(const tenon_array* list, size_t count, std::span<const Port> ports) {
  const auto arrays = TRY(arrays_by_port(list, count, ports, "output"));
  std::vector<Destination> out;
  for (size_t k = 0; k < ports.size(); ++k) out.push_back(TRY(destination_of(arrays[k], ports[k])));
  return out;
}

base::Result<OutputBuffer> buffer_of(const tenon_array* memory, const char* argument) {
  TRY(check_not_null(memory, argument));
  const tenon_array a = TRY(read_struct(memory, argument));
  TRY(check_type(a, argument));
  return OutputBuffer{static_cast<DType>(a.dtype), TRY(shape_of(a, argument)), a.data, a.bytes};
}

base::Result<tenon_array> c_array_of(const Array& array, const char* name, std::vector<tenon_string>& strings) {
  if (array.kind() != ValueKind::tensor)
    return refusal(Code::not_supported, std::string("output '") + name + "'", "not supported yet: sequences, optionals and maps in C",
                   "a tensor", "a value that holds tensors", "run this model from C++ or Python");
  tenon_array out{.struct_size = sizeof(tenon_array),
                  .name = name,
                  .dtype = static_cast<int32_t>(array.dtype()),
                  .rank = static_cast<int32_t>(array.shape().size()),
                  .shape = array.shape().data(),
                  .data = const_cast<void*>(array.data()),
                  .bytes = array.byte_size()};
  if (array.dtype() != DType::string) return out;
  strings.clear();
  for (const std::string& s : array.as<std::string>()) strings.push_back({s.data(), s.size()});
  out.data = strings.data();
  out.bytes = strings.size() * sizeof(tenon_string);
  return out;
}

}  // namespace tenon::inline v1
