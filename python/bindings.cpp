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

std::string port_text(const tenon::Port& port) {
  std::string out = std::string(tenon::name_of(port.dtype)) + "[";
  for (size_t k = 0; k < port.dimensions.size(); ++k) out += (k ? "," : "") + port.dimensions[k];
  return out + "]";
}

/// An input where it lies. Arrays that are not C-contiguous are copied (by nanobind); anything else than an array is refused.
tenon::Array array_of(const nb::handle& value, const std::string& name, const tenon::Engine& engine, std::vector<AnyArray>& held) {
  AnyArray array;
  const auto refuse = [&](std::string what) {
    std::string expected;
    for (const tenon::Port& p : engine.inputs())
      if (p.name == name) expected = port_text(p);
    raise({tenon::Code::bad_input, "input '" + name + "'", std::move(what), expected, nb::type_name(value.type()).c_str(),
           "give a NumPy array, or anything with __dlpack__"});
  };
  if (!nb::try_cast(nb::borrow(value), array, true)) refuse("this is no array in CPU memory with an element type that Tenon knows");
  const tenon::DType dtype = dtype_of(array.dtype());
  if (dtype == tenon::DType::none) refuse("this element type is not supported");
  std::vector<int64_t> shape;
  for (size_t k = 0; k < array.ndim(); ++k) shape.push_back(static_cast<int64_t>(array.shape(k)));
  held.push_back(array);
  return {dtype, std::move(shape), array.data(), array.nbytes()};
}

/// A NumPy array that keeps the result's memory.
nb::object numpy_of(const tenon::Array& array, const std::string& name) {
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
  std::vector<AnyArray> held;
  tenon::Arrays arrays;
  for (const auto& [key, value] : inputs) {
    const auto name = nb::cast<std::string>(key);
    arrays.emplace(name, array_of(value, name, engine, held));
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
