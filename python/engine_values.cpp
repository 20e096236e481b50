// SPDX-License-Identifier: Apache-2.0
#include "engine_values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "ml_dtypes_arrays.h"
#include "package_name.h"

namespace tenon_python {

void raise(const tenon::Error& error) {
  const nb::object type = nb::module_::import_(kPackageName).attr("TenonError");
  const auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
  const nb::object made = type(text(tenon::name_of(error.code)), text(error.place), text(error.what), text(error.expected),
                               text(error.found), text(error.advice));
  PyErr_SetObject(type.ptr(), made.ptr());
  throw nb::python_error();
}

namespace {

struct TypePair {
  tenon::DType dtype;
  nb::dlpack::dtype_code code;
  uint8_t bits;
};
using Dl = nb::dlpack::dtype_code;
/// The element types that DLPack has too.
constexpr TypePair kTypes[] = {
    {tenon::DType::f32, Dl::Float, 32},   {tenon::DType::f64, Dl::Float, 64},   {tenon::DType::f16, Dl::Float, 16},
    {tenon::DType::bf16, Dl::Bfloat, 16}, {tenon::DType::i8, Dl::Int, 8},       {tenon::DType::i16, Dl::Int, 16},
    {tenon::DType::i32, Dl::Int, 32},     {tenon::DType::i64, Dl::Int, 64},     {tenon::DType::u8, Dl::UInt, 8},
    {tenon::DType::u16, Dl::UInt, 16},    {tenon::DType::u32, Dl::UInt, 32},    {tenon::DType::u64, Dl::UInt, 64},
    {tenon::DType::boolean, Dl::Bool, 8}, {tenon::DType::c64, Dl::Complex, 64}, {tenon::DType::c128, Dl::Complex, 128},
};

}  // namespace

tenon::DType dtype_of(nb::dlpack::dtype type) {
  for (const TypePair& t : kTypes)
    if (static_cast<uint8_t>(t.code) == type.code && t.bits == type.bits && type.lanes == 1) return t.dtype;
  return tenon::DType::none;
}

namespace {

bool is_optional(tenon::ValueKind kind) { return kind == tenon::ValueKind::optional || kind == tenon::ValueKind::optional_sequence; }

template <class T>
tenon::Array listed_as(const nb::list& items) {
  auto elements = std::make_shared<std::vector<T>>(nb::cast<std::vector<T>>(items));
  return {tenon::dtype_of<T>, {static_cast<int64_t>(elements->size())}, elements->data(), elements->size() * sizeof(T), elements};
}

}  // namespace

const char* name_of(tenon::ValueKind kind) {
  if (kind == tenon::ValueKind::tensor) return "tensor";
  if (kind == tenon::ValueKind::map) return "map";
  return is_optional(kind) ? "optional" : "sequence";
}

std::string port_text(const tenon::Port& port) {
  if (port.key != tenon::DType::none) {
    const std::string map =
        std::string("map(") + std::string(tenon::name_of(port.key)) + "," + std::string(tenon::name_of(port.dtype)) + ")";
    return port.kind == tenon::ValueKind::map ? map : "seq(" + map + ")";
  }
  std::string out = std::string(tenon::name_of(port.dtype)) + "[";
  for (size_t k = 0; k < port.dimensions.size(); ++k) out += (k ? "," : "") + port.dimensions[k];
  out += "]";
  if (port.kind == tenon::ValueKind::sequence || port.kind == tenon::ValueKind::optional_sequence) out = "seq(" + out + ")";
  return is_optional(port.kind) ? "optional(" + out + ")" : out;
}

tenon::Array InputReader::read(const nb::handle& value, const std::string& name) {
  port_ = nullptr;
  name_ = name;
  for (const tenon::Port& p : inputs_)
    if (p.name == name) port_ = &p;
  return of_kind(value, port_ ? port_->kind : tenon::ValueKind::tensor);
}

tenon::Array InputReader::of_kind(const nb::handle& value, tenon::ValueKind kind) {
  switch (kind) {
    case tenon::ValueKind::tensor: break;
    case tenon::ValueKind::sequence: return sequence(value);
    case tenon::ValueKind::map: return map(value);
    case tenon::ValueKind::sequence_of_maps: return maps(value);
    case tenon::ValueKind::optional:
      return value.is_none() ? tenon::Array::optional() : tenon::Array::optional(of_kind(value, tenon::ValueKind::tensor));
    case tenon::ValueKind::optional_sequence: return value.is_none() ? tenon::Array::optional() : tenon::Array::optional(sequence(value));
  }
  return tensor(value);
}

tenon::Array InputReader::sequence(const nb::handle& value) {
  if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) refuse(value, "this is no list of arrays", "give a list");
  std::vector<tenon::Array> elements;
  for (const nb::handle item : value) elements.push_back(tensor(item));
  return tenon::Array::sequence(std::move(elements));
}

/// Keys and values are copied.
tenon::Array InputReader::map(const nb::handle& value) {
  if (!nb::isinstance<nb::dict>(value)) refuse(value, "this is no dict", "give a dict of numbers");
  const nb::dict dict = nb::borrow<nb::dict>(value);
  try {
    const auto part = [&](const char* name, tenon::DType dtype) { return listed(nb::list(dict.attr(name)()), dtype); };
    return tenon::Array::map(part("keys", port_->key), part("values", port_->dtype));
  } catch (const nb::cast_error&) { refuse(value, "a key or a value has another type", "give those of the types that the model says"); }
}

tenon::Array InputReader::listed(const nb::list& items, tenon::DType dtype) {
  switch (dtype) {
    case tenon::DType::i64: return listed_as<int64_t>(items);
    case tenon::DType::f32: return listed_as<float>(items);
    case tenon::DType::f64: return listed_as<double>(items);
    case tenon::DType::string: return listed_as<std::string>(items);
    default: break;
  }
  raise({tenon::Code::not_supported, "input '" + name_ + "'", "not supported yet: a map to this element type", "f32, f64, i64 or string",
         std::string(tenon::name_of(dtype)), ""});
}

tenon::Array InputReader::maps(const nb::handle& value) {
  if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) refuse(value, "this is no list of dicts", "give a list");
  std::vector<tenon::Array> elements;
  for (const nb::handle item : value) elements.push_back(map(item));
  return tenon::Array::sequence(std::move(elements));
}

/// Arrays that are not C-contiguous are copied; anything else than an array is refused.
tenon::Array InputReader::tensor(const nb::handle& value) {
  if (port_ && port_->dtype == tenon::DType::string) return texts(value);
  AnyArray array;
  if (!nb::try_cast(nb::borrow(value), array, true)) {
    if (const auto known = ml_dtypes_array(value)) return tensor(*known);
    refuse(value, "this is no array in CPU memory with a supported element type", "give a NumPy array, or anything with __dlpack__");
  }
  const tenon::DType dtype = dtype_of(array.dtype());
  if (dtype == tenon::DType::none) refuse(value, "this element type is not supported", "give a NumPy array, or anything with __dlpack__");
  std::vector<int64_t> shape;
  for (size_t k = 0; k < array.ndim(); ++k) shape.push_back(static_cast<int64_t>(array.shape(k)));
  held_.push_back(array);
  return {dtype, std::move(shape), array.data(), array.nbytes()};
}

tenon::Array InputReader::tensor(const MlDtypesArray& value) {
  if (value.bits < 8) return value.packed();
  const AnyArray& bytes = held_.emplace_back(nb::cast<AnyArray>(value.bytes()));
  return {value.dtype, value.shape, bytes.data(), bytes.nbytes()};
}

/// An array of Python's strings, or whatever NumPy makes one of.
tenon::Array InputReader::texts(const nb::handle& value) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(value, nb::str("object"));
  const auto shape = nb::cast<std::vector<int64_t>>(array.attr("shape"));
  try {
    const tenon::Array flat = listed_as<std::string>(nb::list(array.attr("ravel")()));
    return {tenon::DType::string, shape, flat.data(), flat.byte_size(), flat.keeper()};
  } catch (const nb::cast_error&) { refuse(value, "an element is no string", "give an array of strings"); }
}

void InputReader::refuse(const nb::handle& value, std::string what, std::string advice) const {
  raise({tenon::Code::bad_input, "input '" + name_ + "'", std::move(what), port_ ? port_text(*port_) : std::string(),
         nb::type_name(value.type()).c_str(), std::move(advice)});
}

namespace {

nb::object list_of(const tenon::Array& array, const std::string& name) {
  if (array.dtype() != tenon::DType::string) return numpy_of(array, name).attr("tolist")();
  nb::list out;
  for (const std::string& s : array.as<std::string>()) out.append(nb::str(s.data(), s.size()));
  return out;
}

nb::object dict_of(const tenon::Array& map, const std::string& name) {
  const nb::object keys = list_of(map.elements()[0], name), values = list_of(map.elements()[1], name);
  nb::dict out;
  for (size_t k = 0; k < nb::len(keys); ++k) out[keys[k]] = values[k];
  return out;
}

}  // namespace

nb::object numpy_of(const tenon::Array& array, const std::string& name) {
  if (array.kind() == tenon::ValueKind::sequence) {
    nb::list out;
    for (const tenon::Array& e : array.elements()) out.append(numpy_of(e, name));
    return out;
  }
  if (array.kind() == tenon::ValueKind::map) return dict_of(array, name);
  if (is_optional(array.kind())) return array.elements().empty() ? nb::none() : numpy_of(array.elements()[0], name);
  if (array.dtype() == tenon::DType::string)
    return nb::module_::import_("numpy").attr("array")(list_of(array, name), nb::str("object")).attr("reshape")(array.shape());
  if (nb::object known = ml_dtypes_array_of(array); !known.is_none()) return known;
  std::vector<size_t> shape(array.shape().begin(), array.shape().end());
  for (const TypePair& t : kTypes) {
    if (t.dtype != array.dtype()) continue;
    auto* keeper = new std::shared_ptr<const void>(array.keeper());
    const nb::capsule owner(keeper, [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
    const nb::dlpack::dtype type{static_cast<uint8_t>(t.code), t.bits, 1};
    // Without ml_dtypes there is no NumPy array of bf16: a DLPack capsule.
    if (t.dtype == tenon::DType::bf16)
      return nb::cast(nb::ndarray<>(const_cast<void*>(array.data()), shape.size(), shape.data(), owner, nullptr, type));
    return nb::cast(nb::ndarray<nb::numpy>(const_cast<void*>(array.data()), shape.size(), shape.data(), owner, nullptr, type));
  }
  raise({tenon::Code::not_supported, "output '" + name + "'", "this element type has no array in Python", "",
         std::string(tenon::name_of(array.dtype())), "install the package ml_dtypes, 0.5 or newer, or add a Cast to the model"});
}

}  // namespace tenon_python
