// SPDX-License-Identifier: Apache-2.0
// Engine.run: arrays in and out, the GIL, what ends a run early, its profile.
#include "engine_run.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <optional>

#include "engine_values.h"
#include "ml_dtypes_arrays.h"
#include "run_stop.h"

namespace tenon_python {

namespace {

using Clock = std::chrono::steady_clock;

/// `timeout` seconds from now. Raises TenonError: bad_usage.
Clock::time_point deadline_of(const std::optional<double>& timeout) {
  if (!timeout) return Clock::time_point::max();
  if (!(*timeout >= 0))
    raise({tenon::Code::bad_usage, "timeout", "a time must be a number that is not negative", "seconds, 0 or more",
           fmt::format("{}", *timeout), "give no timeout to wait however long the run takes"});
  constexpr double kForever = 1e9;  // seconds; the clock counts nanoseconds in 64 bits
  if (*timeout >= kForever) return Clock::time_point::max();
  return Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(*timeout * 1e9));
}

/// The memory of the arrays of `out`, which the caller keeps.
class OutputReader {
 public:
  explicit OutputReader(const tenon::Engine& engine) : engine_(engine) {}

  /// Raises TenonError: bad_input.
  tenon::OutputBuffers read(const nb::dict& out) {
    tenon::OutputBuffers buffers;
    for (const auto& [key, value] : out) {
      const auto name = nb::cast<std::string>(key);
      buffers.emplace(name, buffer(value, name));
    }
    return buffers;
  }

 private:
  using WritableArray = nb::ndarray<nb::device::cpu, nb::c_contig>;

  tenon::OutputBuffer buffer(const nb::handle& value, const std::string& name) {
    WritableArray array;
    if (!nb::try_cast(nb::borrow(value), array, false)) {
      if (const auto known = ml_dtypes_array(value)) return buffer(*known, name);
      refuse(value, name);
    }
    if (dtype_of(array.dtype()) == tenon::DType::none) refuse(value, name);
    tenon::OutputBuffer out{.dtype = dtype_of(array.dtype()), .data = array.data(), .bytes = array.nbytes()};
    for (size_t k = 0; k < array.ndim(); ++k) out.shape.push_back(static_cast<int64_t>(array.shape(k)));
    held_.push_back(std::move(array));
    return out;
  }

  tenon::OutputBuffer buffer(const MlDtypesArray& value, const std::string& name) {
    if (value.bits < 8)
      raise({tenon::Code::not_supported, "output '" + name + "'",
             "not supported yet: a result in an array whose elements have fewer than 8 bits", "elements of 8 bits or more",
             std::string(tenon::name_of(value.dtype)), "leave the output out of `out`"});
    WritableArray bytes;
    if (!nb::cast<bool>(value.array.attr("flags").attr("c_contiguous")) || !nb::try_cast(value.bytes(), bytes, false))
      refuse(value.array, name);
    held_.push_back(bytes);
    return {.dtype = value.dtype, .shape = value.shape, .data = bytes.data(), .bytes = bytes.nbytes()};
  }

  [[noreturn]] void refuse(const nb::handle& value, const std::string& name) const {
    std::string expected;
    for (const tenon::Port& port : engine_.outputs())
      if (port.name == name) expected = port_text(port);
    raise({tenon::Code::bad_input, "output '" + name + "'",
           "this is no writable, C-contiguous array in CPU memory with a supported element type", expected,
           nb::type_name(value.type()).c_str(), "make one with numpy.empty"});
  }

  const tenon::Engine& engine_;
  std::vector<WritableArray> held_;
};

struct RecordedStep {
  std::string label, backend;
  double start, duration;  ///< seconds; from the start of the run
};

nb::list list_of(const std::vector<RecordedStep>& steps) {
  nb::list out;
  for (const RecordedStep& s : steps) out.append(nb::make_tuple(s.label, s.backend, s.start, s.duration));
  return out;
}

tenon::Arrays arrays_of(InputReader& reader, const nb::dict& inputs) {
  tenon::Arrays arrays;
  for (const auto& [key, value] : inputs) {
    const auto name = nb::cast<std::string>(key);
    arrays.emplace(name, reader.read(value, name));
  }
  return arrays;
}

/// Runs without the GIL. A run that SIGINT has ended begins again where Python's handler raises nothing.
tenon::Arrays run_stoppable(const tenon::Engine& engine, const tenon::Arrays& inputs, const tenon::OutputBuffers& outputs,
                            tenon::RunOptions& options, StopSource* stop) {
  RunStop stopping(stop);
  options.stop = stopping.token();
  for (;;) {
    auto results = [&] {
      const nb::gil_scoped_release released;
      return engine.run(inputs, outputs, options);
    }();
    if (results) return std::move(*results);
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!stopping.take_interrupt() || results.error().code != tenon::Code::cancelled) raise(results.error());
  }
}

nb::dict run(const tenon::Engine& engine, const nb::dict& inputs, const std::optional<nb::dict>& out, int threads,
             const std::optional<tenon::ThreadPool>& thread_pool, bool guard, const std::optional<double>& timeout, StopSource* stop,
             const nb::object& profile, std::optional<uint64_t> seed) {
  InputReader reader(engine);
  OutputReader writer(engine);
  const tenon::Arrays arrays = arrays_of(reader, inputs);
  const tenon::OutputBuffers buffers = out ? writer.read(*out) : tenon::OutputBuffers();
  std::vector<RecordedStep> steps;
  const auto begin = Clock::now();
  tenon::RunOptions options;
  options.threads = threads;
  options.guard = guard;
  options.seed = seed;
  options.deadline = deadline_of(timeout);
  if (thread_pool) options.thread_pool = *thread_pool;
  if (!profile.is_none())
    options.on_step = [&](const tenon::StepTime& step) {
      const auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
      steps.push_back({std::string(step.label), std::string(step.backend), seconds(step.begin - begin), seconds(step.end - step.begin)});
    };
  const tenon::Arrays results = run_stoppable(engine, arrays, buffers, options, stop);
  if (!profile.is_none()) profile.attr("_add")(list_of(steps));
  nb::dict answer;
  for (const tenon::Port& port : engine.outputs())
    answer[port.name.c_str()] =
        buffers.contains(port.name) ? nb::object((*out)[port.name.c_str()]) : numpy_of(results.at(port.name), port.name);
  return answer;
}

}  // namespace

void bind_run(nb::module_& m, nb::class_<tenon::Engine>& engine) {
  nb::class_<StopSource>(m, "StopToken")
      .def(nb::init<>())
      .def("stop", &StopSource::stop)
      .def("reset", &StopSource::reset)
      .def_prop_ro("stopped", &StopSource::is_stopped);
  engine.def("run", &run, nb::arg("inputs"), nb::kw_only(), nb::arg("out") = nb::none(), nb::arg("threads") = 0,
             nb::arg("thread_pool") = nb::none(), nb::arg("guard") = false, nb::arg("timeout") = nb::none(), nb::arg("stop") = nb::none(),
             nb::arg("profile") = nb::none(), nb::arg("seed") = nb::none());
}

}  // namespace tenon_python
