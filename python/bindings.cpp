// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tenon/tenon.h>

#include <optional>

namespace nb = nanobind;

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;

/// tenon.TenonError with the error's parts as attributes.
[[noreturn]] void raise(const tenon::Error& error) {
  const nb::object type = nb::module_::import_("tenon").attr("TenonError");
  const auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
  const nb::object made = type(text(tenon::name_of(error.code)), text(error.place), text(error.what), text(error.expected),
                               text(error.found), text(error.advice));
  PyErr_SetObject(type.ptr(), made.ptr());
  throw nb::python_error();
}

template <class T>
T unwrap(tenon::Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

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

tenon::DType dtype_of(nb::dlpack::dtype type) {
  for (const TypePair& t : kTypes)
    if (static_cast<uint8_t>(t.code) == type.code && t.bits == type.bits && type.lanes == 1) return t.dtype;
  return tenon::DType::none;
}

bool is_optional(tenon::ValueKind kind) { return kind == tenon::ValueKind::optional || kind == tenon::ValueKind::optional_sequence; }

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

/// What `run` is given, as arrays: tensors where they lie; lists for sequences, None for an optional without element, a dict for a map.
class InputReader {
 public:
  explicit InputReader(const tenon::Engine& engine) : engine_(engine) {}

  tenon::Array read(const nb::handle& value, const std::string& name) {
    port_ = nullptr;
    name_ = name;
    for (const tenon::Port& p : engine_.inputs())
      if (p.name == name) port_ = &p;
    return of_kind(value, port_ ? port_->kind : tenon::ValueKind::tensor);
  }

 private:
  tenon::Array of_kind(const nb::handle& value, tenon::ValueKind kind) {
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

  tenon::Array sequence(const nb::handle& value) {
    if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) refuse(value, "this is no list of arrays", "give a list");
    std::vector<tenon::Array> elements;
    for (const nb::handle item : value) elements.push_back(tensor(item));
    return tenon::Array::sequence(std::move(elements));
  }

  /// Keys and values are copied.
  tenon::Array map(const nb::handle& value) {
    if (!nb::isinstance<nb::dict>(value)) refuse(value, "this is no dict", "give a dict of numbers");
    const nb::dict dict = nb::borrow<nb::dict>(value);
    try {
      const auto part = [&](const char* name, tenon::DType dtype) { return listed(nb::list(dict.attr(name)()), dtype); };
      return tenon::Array::map(part("keys", port_->key), part("values", port_->dtype));
    } catch (const nb::cast_error&) { refuse(value, "a key or a value has another type", "give those of the types that the model says"); }
  }

  template <class T>
  tenon::Array listed_as(const nb::list& items) {
    auto elements = std::make_shared<std::vector<T>>(nb::cast<std::vector<T>>(items));
    return {tenon::dtype_of<T>, {static_cast<int64_t>(elements->size())}, elements->data(), elements->size() * sizeof(T), elements};
  }

  tenon::Array listed(const nb::list& items, tenon::DType dtype) {
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

  tenon::Array maps(const nb::handle& value) {
    if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) refuse(value, "this is no list of dicts", "give a list");
    std::vector<tenon::Array> elements;
    for (const nb::handle item : value) elements.push_back(map(item));
    return tenon::Array::sequence(std::move(elements));
  }

  /// Arrays that are not C-contiguous are copied (by nanobind); anything else than an array is refused.
  tenon::Array tensor(const nb::handle& value) {
    AnyArray array;
    if (!nb::try_cast(nb::borrow(value), array, true))
      refuse(value, "this is no array in CPU memory with an element type that Tenon knows",
             "give a NumPy array, or anything with __dlpack__");
    const tenon::DType dtype = dtype_of(array.dtype());
    if (dtype == tenon::DType::none) refuse(value, "this element type is not supported", "give a NumPy array, or anything with __dlpack__");
    std::vector<int64_t> shape;
    for (size_t k = 0; k < array.ndim(); ++k) shape.push_back(static_cast<int64_t>(array.shape(k)));
    held_.push_back(array);
    return {dtype, std::move(shape), array.data(), array.nbytes()};
  }

  [[noreturn]] void refuse(const nb::handle& value, std::string what, std::string advice) const {
    raise({tenon::Code::bad_input, "input '" + name_ + "'", std::move(what), port_ ? port_text(*port_) : std::string(),
           nb::type_name(value.type()).c_str(), std::move(advice)});
  }

  const tenon::Engine& engine_;
  const tenon::Port* port_ = nullptr;
  std::string name_;
  std::vector<AnyArray> held_;  ///< until the run is over
};

nb::object numpy_of(const tenon::Array& array, const std::string& name);

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

/// A NumPy array that keeps the result's memory; a list of such for a sequence; None for an optional without element; a dict for a map.
nb::object numpy_of(const tenon::Array& array, const std::string& name) {
  if (array.kind() == tenon::ValueKind::sequence) {
    nb::list out;
    for (const tenon::Array& e : array.elements()) out.append(numpy_of(e, name));
    return out;
  }
  if (array.kind() == tenon::ValueKind::map) return dict_of(array, name);
  if (is_optional(array.kind())) return array.elements().empty() ? nb::none() : numpy_of(array.elements()[0], name);
  std::vector<size_t> shape(array.shape().begin(), array.shape().end());
  for (const TypePair& t : kTypes) {
    if (t.dtype != array.dtype()) continue;
    auto* keeper = new std::shared_ptr<const void>(array.keeper());
    const nb::capsule owner(keeper, [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
    const nb::dlpack::dtype type{static_cast<uint8_t>(t.code), t.bits, 1};
    // bf16 has no NumPy type: such results go out as a DLPack tensor.
    if (t.dtype == tenon::DType::bf16)
      return nb::cast(nb::ndarray<>(const_cast<void*>(array.data()), shape.size(), shape.data(), owner, nullptr, type));
    return nb::cast(nb::ndarray<nb::numpy>(const_cast<void*>(array.data()), shape.size(), shape.data(), owner, nullptr, type));
  }
  raise({tenon::Code::not_supported, "output '" + name + "'", "this element type has no array in Python", "",
         std::string(tenon::name_of(array.dtype())), "add a Cast to the model"});
}

nb::dict run(const tenon::Engine& engine, const nb::dict& inputs, int threads, bool guard) {
  InputReader reader(engine);
  tenon::Arrays arrays;
  for (const auto& [key, value] : inputs) {
    const auto name = nb::cast<std::string>(key);
    arrays.emplace(name, reader.read(value, name));
  }
  tenon::RunOptions options;
  options.threads = threads;
  options.guard = guard;
  const auto results = [&] {
    const nb::gil_scoped_release released;
    return engine.run(arrays, options);
  }();
  if (!results) raise(results.error());
  nb::dict out;
  for (const tenon::Port& port : engine.outputs()) out[port.name.c_str()] = numpy_of(results->at(port.name), port.name);
  return out;
}

tenon::Engine compile(const std::filesystem::path& model, const std::optional<std::filesystem::path>& external_data, int opt, int threads,
                      const std::map<std::string, std::vector<int64_t>>& shapes) {
  tenon::CompileOptions options;
  if (external_data) options.external_data = *external_data;
  options.opt = opt;
  options.threads = threads;
  options.shapes = shapes;
  auto engine = [&] {
    const nb::gil_scoped_release released;
    return tenon::compile(model, options);
  }();
  return unwrap(std::move(engine));
}

tenon::Engine load(const std::filesystem::path& path, bool verify) {
  auto engine = [&] {
    const nb::gil_scoped_release released;
    return tenon::Engine::load(path, {.verify = verify});
  }();
  return unwrap(std::move(engine));
}

void save(const tenon::Engine& engine, const std::filesystem::path& path, bool portable) {
  auto saved = [&] {
    const nb::gil_scoped_release released;
    return engine.save(path, portable);
  }();
  unwrap(std::move(saved));
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  const bool mega = bytes >= 10'000'000;
  const std::string tenths = std::to_string(bytes / (mega ? 100'000 : 100));
  return tenths.substr(0, tenths.size() - 1) + "." + tenths.back() + (mega ? " MB" : " kB");
}

std::string ports_text(std::span<const tenon::Port> ports) {
  std::string out;
  for (const tenon::Port& p : ports) out += (out.empty() ? "" : ", ") + p.name + ": " + port_text(p);
  return out;
}

std::string engine_text(const tenon::Engine& e) {
  const tenon::EngineSizes sizes = e.sizes();
  return "<Engine (" + ports_text(e.inputs()) + ") -> (" + ports_text(e.outputs()) + "); " + bytes_text(sizes.weight_bytes) +
         " of weights, " + bytes_text(sizes.code_bytes) + " of code, " + std::to_string(sizes.steps) + " steps>";
}

std::vector<tenon::Port> ports(std::span<const tenon::Port> from) { return {from.begin(), from.end()}; }

}  // namespace

namespace tenon::python {
void bind_graph(nanobind::module_& m);
void bind_nodes(nanobind::module_& m);
void bind_rewrite(nanobind::module_& m);
}  // namespace tenon::python

NB_MODULE(_tenon, m) {
  nb::set_leak_warnings(false);  // an exception that ends the program keeps its frames alive
  nb::class_<tenon::Port>(m, "Port")
      .def_ro("name", &tenon::Port::name)
      .def_prop_ro("dtype", [](const tenon::Port& p) { return std::string(tenon::name_of(p.dtype)); })
      .def_prop_ro("kind", [](const tenon::Port& p) { return std::string(name_of(p.kind)); })
      .def_ro("dimensions", &tenon::Port::dimensions)
      .def("__repr__", [](const tenon::Port& p) { return "<" + p.name + ": " + port_text(p) + ">"; });
  nb::class_<tenon::Engine>(m, "Engine")
      .def("run", &run, nb::arg("inputs"), nb::kw_only(), nb::arg("threads") = 0, nb::arg("guard") = false)
      .def("__repr__", &engine_text)
      .def("save", &save, nb::arg("path"), nb::kw_only(), nb::arg("portable") = false)
      .def_prop_ro("inputs", [](const tenon::Engine& e) { return ports(e.inputs()); })
      .def_prop_ro("outputs", [](const tenon::Engine& e) { return ports(e.outputs()); });
  m.def("compile", &compile, nb::arg("model"), nb::kw_only(), nb::arg("external_data") = nb::none(), nb::arg("opt") = 3,
        nb::arg("threads") = 0, nb::arg("shapes") = std::map<std::string, std::vector<int64_t>>());
  m.def("load", &load, nb::arg("path"), nb::kw_only(), nb::arg("verify") = false);
  tenon::python::bind_nodes(m);
  tenon::python::bind_graph(m);
  tenon::python::bind_rewrite(m);
}
