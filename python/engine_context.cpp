// SPDX-License-Identifier: Apache-2.0
#include "engine_context.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "engine_values.h"

namespace tenon_python {

namespace {

template <class T>
T value_of(tenon::Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Runs `call` without the GIL.
template <class Call>
auto released(Call call) {
  auto result = [&] {
    const nb::gil_scoped_release release;
    return call();
  }();
  return value_of(std::move(result));
}

void bind_state(PyContext& self, const std::string& name, const nb::handle& array, int64_t length) {
  const PyContext::Use use(self);
  MemoryReader reader;
  const auto memory = reader.read(array, "state '" + name + "'", "");
  value_of(self.context.bind_state(name, memory, length));
  self.bound[name] = std::move(reader);
}

void unbind_state(PyContext& self, const std::string& name) {
  const PyContext::Use use(self);
  value_of(self.context.unbind_state(name));
  self.bound.erase(name);
}

void reset(PyContext& self, const std::optional<std::string>& name) {
  const PyContext::Use use(self);
  if (name) value_of(self.context.reset(*name));
  else self.context.reset();
}

nb::object state(PyContext& self, const std::string& name) {
  const PyContext::Use use(self);
  return numpy_of(value_of(self.context.state(name)), name);
}

std::unique_ptr<PyContext> fork(PyContext& self) {
  const PyContext::Use use(self);
  return std::make_unique<PyContext>(self.engine, released([&] { return self.context.fork(); }));
}

void save_context(PyContext& self, const std::filesystem::path& path) {
  const PyContext::Use use(self);
  released([&] { return self.context.save(path); });
}

nb::bytes to_bytes(PyContext& self) {
  const PyContext::Use use(self);
  const auto bytes = released([&] { return self.context.bytes(); });
  return nb::bytes(bytes.data(), bytes.size());
}

void restore(PyContext& self, const std::filesystem::path& path) {
  const PyContext::Use use(self);
  released([&] { return self.context.restore(path); });
}

void restore_bytes(PyContext& self, const nb::bytes& bytes) {
  const PyContext::Use use(self);
  const std::span all(static_cast<const std::byte*>(bytes.data()), bytes.size());
  released([&] { return self.context.restore(all); });
}

}  // namespace

PyContext::PyContext(const tenon::Engine& of) : engine(of), context(value_of(tenon::Context::create(of))) {}

PyContext::Use::Use(PyContext& context) : lock_(context.in_use, std::try_to_lock) {
  if (!lock_)
    raise({tenon::Code::bad_usage, "context", "another thread uses this context", "one thread at a time", "two",
           "make a context for each thread, or fork this one"});
}

void bind_context(nb::class_<PyContext>& context) {
  context.def(nb::init<const tenon::Engine&>(), nb::arg("engine"))
      .def_prop_ro("engine", [](const PyContext& self) { return self.engine; })
      .def("bind_state", &bind_state, nb::arg("name"), nb::arg("array").none(), nb::kw_only(), nb::arg("length") = 0)
      .def("unbind_state", &unbind_state, nb::arg("name"))
      .def("reset", &reset, nb::arg("name") = nb::none())
      .def(
          "length",
          [](PyContext& self, const std::string& name) {
            const PyContext::Use use(self);
            return value_of(self.context.length(name));
          },
          nb::arg("name"))
      .def(
          "set_length",
          [](PyContext& self, const std::string& name, int64_t length) {
            const PyContext::Use use(self);
            value_of(self.context.set_length(name, length));
          },
          nb::arg("name"), nb::arg("length"))
      .def("state", &state, nb::arg("name"))
      .def("fork", &fork)
      .def("save", &save_context, nb::arg("path"))
      .def("to_bytes", &to_bytes)
      .def("restore", &restore_bytes, nb::arg("source"))
      .def("restore", &restore, nb::arg("source"));
}

}  // namespace tenon_python
