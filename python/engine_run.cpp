// SPDX-License-Identifier: Apache-2.0
// Engine.run and Context.run: arrays in and out, the GIL, what ends a run early, its profile.
#include "engine_run.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine_context.h"
#include "engine_values.h"
#include "run_stop.h"
#include "writable_memory.h"

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
template <class Runner>
tenon::Arrays run_stoppable(Runner& runner, const tenon::Arrays& inputs, const tenon::OutputBuffers& outputs, tenon::RunOptions& options,
                            StopSource* stop) {
  RunStop stopping(stop);
  options.stop = stopping.token();
  for (;;) {
    auto results = [&] {
      const nb::gil_scoped_release released;
      return runner.run(inputs, outputs, options);
    }();
    if (results) return std::move(*results);
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!stopping.take_interrupt() || results.error().code != tenon::Code::cancelled) raise(results.error());
  }
}

tenon::OutputBuffers buffers_of(MemoryReader& reader, const std::optional<nb::dict>& out, std::span<const tenon::Port> ports) {
  tenon::OutputBuffers buffers;
  if (!out) return buffers;
  for (const auto& [key, value] : *out) {
    const auto name = nb::cast<std::string>(key);
    const auto port = std::ranges::find(ports, name, &tenon::Port::name);
    buffers.emplace(name, reader.read(value, "output '" + name + "'", port != ports.end() ? port_text(*port) : ""));
  }
  return buffers;
}

template <class Runner>
nb::dict run_on(Runner& runner, const tenon::Engine& engine, const nb::dict& inputs, const std::optional<std::string>& entry,
                const std::optional<nb::dict>& out, int threads, const std::optional<tenon::ThreadPool>& thread_pool, bool check_memory,
                const std::optional<double>& timeout, StopSource* stop, const nb::object& profile, std::optional<uint64_t> seed) {
  const auto number = engine.entry(entry.value_or(""));
  if (!number) raise(number.error());
  const tenon::Entry& ports = engine.entries()[*number];
  InputReader reader(ports.inputs);
  MemoryReader writer;
  const tenon::Arrays arrays = arrays_of(reader, inputs);
  const tenon::OutputBuffers buffers = buffers_of(writer, out, ports.outputs);
  std::vector<RecordedStep> steps;
  const auto begin = Clock::now();
  tenon::RunOptions options;
  options.entry = ports.name;
  options.threads = threads;
  options.check_memory = check_memory;
  options.seed = seed;
  options.deadline = deadline_of(timeout);
  if (thread_pool) options.thread_pool = *thread_pool;
  if (!profile.is_none())
    options.on_step = [&](const tenon::StepTime& step) {
      const auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
      steps.push_back({std::string(step.label), std::string(step.backend), seconds(step.begin - begin), seconds(step.end - step.begin)});
    };
  const tenon::Arrays results = run_stoppable(runner, arrays, buffers, options, stop);
  if (!profile.is_none()) profile.attr("_add")(list_of(steps));
  nb::dict answer;
  for (const tenon::Port& port : ports.outputs)
    answer[port.name.c_str()] =
        buffers.contains(port.name) ? nb::object((*out)[port.name.c_str()]) : numpy_of(results.at(port.name), port.name);
  return answer;
}

template <class... Options>
nb::dict run(const tenon::Engine& engine, const Options&... options) {
  return run_on(engine, engine, options...);
}

template <class... Options>
nb::dict run_context(PyContext& context, const Options&... options) {
  const PyContext::Use use(context);
  return run_on(context.context, context.engine, options...);
}

/// Adds `run` to a class. call: one of the above.
template <class Class, class Call>
void def_run(Class& to, Call call) {
  to.def("run", call, nb::arg("inputs"), nb::kw_only(), nb::arg("entry") = nb::none(), nb::arg("out") = nb::none(), nb::arg("threads") = 0,
         nb::arg("thread_pool") = nb::none(), nb::arg("check_memory") = false, nb::arg("timeout") = nb::none(),
         nb::arg("stop") = nb::none(), nb::arg("profile") = nb::none(), nb::arg("seed") = nb::none());
}

using Dict = nb::dict;
using Out = std::optional<nb::dict>;
using Pool = std::optional<tenon::ThreadPool>;

}  // namespace

void bind_run(nb::module_& m, nb::class_<tenon::Engine>& engine, nb::class_<PyContext>& context) {
  nb::class_<StopSource>(m, "StopToken")
      .def(nb::init<>())
      .def("stop", &StopSource::stop)
      .def("reset", &StopSource::reset)
      .def_prop_ro("stopped", &StopSource::is_stopped);
  def_run(engine, &run<Dict, std::optional<std::string>, Out, int, Pool, bool, std::optional<double>, StopSource*, nb::object,
                       std::optional<uint64_t>>);
  def_run(context, &run_context<Dict, std::optional<std::string>, Out, int, Pool, bool, std::optional<double>, StopSource*, nb::object,
                                std::optional<uint64_t>>);
}

}  // namespace tenon_python
