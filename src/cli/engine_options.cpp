// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <map>
#include <random>
#include <set>

#include "cli/console.h"
#include "compiler/load.h"
#include "files/npy.h"
#include "files/npz.h"
#include "runtime/held.h"

namespace tenon::cli {

namespace {

std::vector<std::string> names_of_passes() {
  std::vector<std::string> out;
  for (const compiler::PassName& p : compiler::pass_names()) out.emplace_back(p.name);
  return out;
}

}  // namespace

void EngineOptions::add_to(CLI::App& app) {
  model.add_to(app, "an ONNX model or an engine (.tenon)");
  app.add_option("--opt", opt, "0: no rewriting ... 3: everything")->check(CLI::Range(0, 3))->capture_default_str();
  app.add_option("--threads", threads, "threads to run on (default: what this process may use)")->check(CLI::NonNegativeNumber);
  app.add_flag("--verify", verify, "check every byte of an engine file first");
  app.add_flag("--verify-passes", verify_passes, "check the graph and the plan after each pass of the build");
  app.add_option("--without", without, "a pass of the build that does not run: one of the graph or of planning; may be repeated")
      ->type_name("PASS")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names_of_passes()));
}

void EngineOptions::add_guard_to(CLI::App& app) {
  app.add_flag("--guard", guard, "look after each step for writes outside the buffers; what is not written yet holds NaN (slow)");
}

runtime::RunOptions EngineOptions::run_options() const {
  runtime::RunOptions options;
  options.threads = threads;
  options.guard = guard;
  return options;
}

bool EngineOptions::is_engine() const { return std::filesystem::path(model.path).extension() == ".tenon"; }

compiler::CompileOptions EngineOptions::compile_options(Console& console) const {
  compiler::CompileOptions options;
  options.opt = opt;
  options.threads = threads;
  options.verify = verify_passes;
  options.off.insert(without.begin(), without.end());
  options.source = std::filesystem::path(model.path).filename().string();
  options.progress = [&console](std::string_view step) { console.progress(step); };
  return options;
}

Result<std::shared_ptr<runtime::Engine>> EngineOptions::engine(Console& console, double* load_ms) const {
  const auto start = std::chrono::steady_clock::now();
  auto made = [&]() -> Result<std::shared_ptr<runtime::Engine>> {
    if (is_engine()) return compiler::load(model.path, {.verify = verify, .threads = threads});
    auto imported = TRY(model.import());
    for (const std::string& w : imported.warnings) console.warn(w);
    return compiler::load_compiled(TRY(compiler::compile(std::move(imported.graph), compile_options(console))));
  }();
  if (load_ms) *load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return made;
}

void InputOptions::add_to(CLI::App& app) {
  app.add_option("--input,--inputs", files,
                 "an input from a file: NAME=FILE.npy, or FILE.npz with arrays of the inputs' names (of a sequence: NAME/0, NAME/1, ...)")
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  app.add_option("--seed", seed, "of the random inputs")->capture_default_str();
}

namespace {

/// All arrays of an archive, or the one of that name.
Result<void> take(files::NamedTensors archive, const std::string& wanted, const std::string& file, files::NamedTensors& given) {
  std::string names;
  for (auto& [name, tensor] : archive) {
    names += (names.empty() ? "" : ", ") + name;
    if (!wanted.empty() && name != wanted) continue;
    given.emplace_back(name, std::move(tensor));
    if (!wanted.empty()) return {};
  }
  if (wanted.empty()) return {};
  return fail(Code::bad_input, file, "the archive has no array of this name").expected(wanted).found(names.empty() ? "no array" : names);
}

Result<void> read_given(const std::string& text, files::NamedTensors& given) {
  const size_t equals = text.find('=');
  const std::string file = equals == std::string::npos ? text : text.substr(equals + 1);
  const bool archive = file.ends_with(".npz");
  if (!archive && equals == std::string::npos)
    return fail(Code::bad_usage, "--input " + text, "an .npy file needs the name of its input")
        .expected("NAME=FILE.npy or FILE.npz")
        .found(text);
  if (archive) { return take(TRY(files::read_npz(file)), equals == std::string::npos ? "" : text.substr(0, equals), file, given); }
  given.emplace_back(text.substr(0, equals), TRY(files::read_npy(file)));
  return {};
}

using NamedSizes = std::map<std::string, int64_t>;

/// What --shape says of each dimension name: one name has one size in all inputs.
NamedSizes requested_sizes(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes) {
  NamedSizes named;
  for (const import::RequestedShape& s : shapes)
    for (const runtime::PortInfo& port : inputs)
      for (size_t d = 0; s.input == port.name && d < std::min(s.dims.size(), port.dimensions.size()); ++d)
        if (s.dims[d].size) named[port.dimensions[d]] = *s.dims[d].size;
  return named;
}

/// The size of axis `axis` where nobody asked for one: the same in all inputs, what was asked for there in another one, and as large as
/// each of them must be at least.
int64_t default_size(std::span<const runtime::PortInfo> inputs, size_t axis, const NamedSizes& asked) {
  int64_t size = axis == 0 ? 1 : 16;
  for (const runtime::PortInfo& port : inputs) {
    if (axis >= port.lower.size() || port.lower[axis] == port.upper[axis]) continue;
    if (const auto found = asked.find(port.dimensions[axis]); found != asked.end()) return found->second;
    size = std::max(size, port.lower[axis]);
  }
  return size;
}

/// Adds a size for every dimension that has none; a name that comes up again has the size that it got first.
void add_defaults(std::span<const runtime::PortInfo> inputs, NamedSizes& named) {
  const NamedSizes asked = named;
  for (const runtime::PortInfo& port : inputs)
    for (size_t d = 0; d < port.dimensions.size(); ++d) {
      const int64_t size = std::clamp(default_size(inputs, d, asked), port.lower[d], std::max(port.lower[d], port.upper[d]));
      named.try_emplace(port.dimensions[d], size);
    }
}

Sizes shape_of(const runtime::PortInfo& port, const NamedSizes& named) {
  Sizes out;
  for (size_t d = 0; d < port.dimensions.size(); ++d)
    out.push_back(port.lower[d] == port.upper[d] ? port.lower[d] : named.at(port.dimensions[d]));
  return out;
}

Result<Tensor> random_tensor(const runtime::PortInfo& port, const Sizes& shape, std::mt19937_64& random) {
  Tensor t = TRY(Tensor::make(port.dtype, shape));
  const bool mask = port.name.find("mask") != std::string::npos;
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.count(); ++i) {
    if (is_float(port.dtype)) t.set_number(i, normal(random));
    else if (port.dtype == DType::boolean || mask) t.set_integer(i, 1);
    else t.set_integer(i, static_cast<int64_t>(random() % 2));
  }
  return t;
}

bool is_optional(const runtime::PortInfo& port) { return port.held.kind != ValueKind::sequence; }

/// One of the tensors in a port that is none itself. Sizes that may be any are 2, shapes that may be any [3].
Result<Tensor> random_element(const runtime::PortInfo& port, std::mt19937_64& random) {
  Sizes shape = port.held.unranked ? Sizes{3} : port.held.sizes;
  for (int64_t& s : shape) s = s < 0 ? 2 : s;
  return random_tensor(port, shape, random);
}

/// A sequence is given as arrays NAME/0, NAME/1, ..., an optional tensor as NAME; otherwise the one has two elements that are drawn, and
/// the other one.
Result<Tensor> held_value(const runtime::PortInfo& port, const files::NamedTensors& given, std::mt19937_64& random) {
  std::vector<Tensor> elements;
  const bool alone = port.held.kind == ValueKind::optional;
  const auto find = [&](const std::string& name) { return std::ranges::find(given, name, &files::NamedTensors::value_type::first); };
  for (size_t k = 0; k == 0 || !alone; ++k) {
    const auto found = find(alone ? port.name : fmt::format("{}/{}", port.name, k));
    if (found == given.end()) break;
    elements.push_back(found->second);
  }
  const size_t drawn = elements.empty() ? alone ? 1 : 2 : 0;
  for (size_t k = 0; k < drawn; ++k) elements.push_back(TRY(random_element(port, random)));
  if (alone) return Tensor::of_elements(DType::optional, std::move(elements));
  Tensor sequence = Tensor::of_elements(DType::sequence, std::move(elements));
  return is_optional(port) ? Tensor::of_elements(DType::optional, {std::move(sequence)}) : sequence;
}

/// Is `name` that of the port, or of a tensor in it?
bool names_part_of(const std::string& name, const runtime::PortInfo& port) {
  if (!runtime::is_held(port) || port.held.kind == ValueKind::optional) return name == port.name;
  const std::string_view rest = std::string_view(name).substr(std::min(name.size(), port.name.size()));
  return name.starts_with(port.name) && rest.size() > 1 && rest[0] == '/' && rest.find_first_not_of("0123456789", 1) == rest.npos;
}

Result<void> check_names(const files::NamedTensors& given, std::span<const runtime::PortInfo> ports) {
  std::set<std::string_view> seen;
  for (const auto& [name, tensor] : given) {
    const std::string place = "input '" + name + "'";
    if (!seen.insert(name).second) return fail(Code::bad_input, place, "the input is given twice").expected("one array").found("two");
    if (std::ranges::any_of(ports, [&](const runtime::PortInfo& p) { return names_part_of(name, p); })) continue;
    std::string names;
    for (const runtime::PortInfo& p : ports)
      names += (names.empty() ? "" : ", ") + p.name + (runtime::is_held(p) && p.held.kind != ValueKind::optional ? "/0, ..." : "");
    return fail(Code::bad_input, place, "the model has no such input").expected(names.empty() ? "no input" : names).found(name);
  }
  return {};
}

}  // namespace

std::vector<Sizes> default_shapes(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes) {
  NamedSizes named = requested_sizes(inputs, shapes);
  add_defaults(inputs, named);
  std::vector<Sizes> out;
  for (const runtime::PortInfo& port : inputs) out.push_back(shape_of(port, named));
  return out;
}

Result<std::vector<Tensor>> InputOptions::inputs(const runtime::Engine& engine, const std::vector<import::RequestedShape>& shapes) const {
  return inputs(engine.inputs(), shapes);
}

Result<std::vector<Tensor>> InputOptions::inputs(std::span<const runtime::PortInfo> ports,
                                                 const std::vector<import::RequestedShape>& shapes) const {
  files::NamedTensors given;
  for (const std::string& f : files) TRY(read_given(f, given));
  TRY(check_names(given, ports));
  std::mt19937_64 random(seed);
  NamedSizes named = requested_sizes(ports, shapes);
  add_defaults(ports, named);
  std::vector<Tensor> out;
  for (const runtime::PortInfo& port : ports) {
    auto found = std::ranges::find_if(given, [&](const auto& g) { return g.first == port.name; });
    if (found != given.end() && !runtime::is_held(port)) out.push_back(found->second);
    else {
      auto made = runtime::is_held(port) ? held_value(port, given, random) : random_tensor(port, shape_of(port, named), random);
      if (!made) return std::move(made).error().at("input '" + port.name + "'");
      out.push_back(std::move(*made));
    }
  }
  return out;
}

}  // namespace tenon::cli
