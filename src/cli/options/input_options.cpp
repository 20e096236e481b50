// SPDX-License-Identifier: Apache-2.0
#include "cli/options/input_options.h"

#include <CLI/CLI.hpp>

#include <map>
#include <random>
#include <set>

#include "cli/options/port_values.h"
#include "files/npy.h"
#include "files/npz.h"
#include "runtime/held.h"

namespace tenon::cli {

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

Result<void> check_names(const files::NamedTensors& given, std::span<const runtime::PortInfo> ports) {
  std::set<std::string_view> seen;
  for (const auto& [name, tensor] : given) {
    const std::string place = "input '" + name + "'";
    if (!seen.insert(name).second) return fail(Code::bad_input, place, "the input is given twice").expected("one array").found("two");
    if (std::ranges::any_of(ports, [&](const runtime::PortInfo& p) { return names_part_of(name, p); })) continue;
    std::string names;
    for (const runtime::PortInfo& p : ports) names += (names.empty() ? "" : ", ") + names_of_parts(p);
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
