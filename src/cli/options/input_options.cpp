// SPDX-License-Identifier: Apache-2.0
#include "cli/options/input_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <random>
#include <set>

#include "compiler/port_values.h"
#include "compiler/shapes/default_shapes.h"
#include "files/npy.h"
#include "files/npz.h"
#include "runtime/container_value.h"

namespace tenon::cli {

void InputOptions::add_to(CLI::App& app) {
  app.add_option("--input,--inputs", files,
                 "an input from a file: NAME=FILE.npy, or FILE.npz with arrays of the inputs' names (of a sequence: NAME/0, NAME/1, ...)")
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  app.add_option("--seed", seed, "of the random inputs (default: 1), and of what random nodes draw (default: other numbers each run)");
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

Result<void> check_names(const files::NamedTensors& given, std::span<const runtime::PortInfo> ports) {
  std::set<std::string_view> seen;
  for (const auto& [name, tensor] : given) {
    const std::string place = "input '" + name + "'";
    if (!seen.insert(name).second) return fail(Code::bad_input, place, "the input is given twice").expected("one array").found("two");
    if (std::ranges::any_of(ports, [&](const runtime::PortInfo& p) { return compiler::names_part_of(name, p); })) continue;
    std::string names;
    for (const runtime::PortInfo& p : ports) names += (names.empty() ? "" : ", ") + compiler::names_of_parts(p);
    return fail(Code::bad_input, place, "the model has no such input").expected(names.empty() ? "no input" : names).found(name);
  }
  return {};
}

/// Errors: bad_input where --shape says another size than the file has.
Result<void> check_requested_sizes(const runtime::PortInfo& port, const Tensor& tensor, const std::vector<import::RequestedShape>& shapes) {
  for (const import::RequestedShape& shape : shapes)
    for (size_t d = 0; shape.input == port.name && d < std::min(shape.dims.size(), tensor.shape().size()); ++d)
      if (shape.dims[d].size && *shape.dims[d].size != tensor.shape()[d])
        return fail(Code::bad_input, "input '" + port.name + "'", "the file has another shape than --shape says")
            .expected(fmt::format("{} in dimension {}", *shape.dims[d].size, d))
            .found(type_text(tensor));
  return {};
}

}  // namespace

Result<std::vector<Tensor>> InputOptions::inputs(const runtime::Engine& engine, const std::vector<import::RequestedShape>& shapes) const {
  return inputs(engine.inputs(), shapes);
}

Result<std::vector<Tensor>> InputOptions::inputs(std::span<const runtime::PortInfo> ports,
                                                 const std::vector<import::RequestedShape>& shapes) const {
  files::NamedTensors given;
  for (const std::string& f : files) TRY(read_given(f, given));
  TRY(check_names(given, ports));
  std::mt19937_64 random(seed.value_or(1));
  const std::vector<Sizes> sizes = compiler::default_shapes(ports, shapes);
  std::vector<Tensor> out;
  for (size_t k = 0; k < ports.size(); ++k) {
    const runtime::PortInfo& port = ports[k];
    auto found = std::ranges::find_if(given, [&](const auto& g) { return g.first == port.name; });
    if (found != given.end() && !runtime::is_container(port)) {
      TRY(check_requested_sizes(port, found->second, shapes));
      out.push_back(found->second);
    } else if (port.otherwise) {
      out.emplace_back();
    } else {
      auto made = runtime::is_container(port) ? compiler::held_value(port, given, random) : compiler::random_tensor(port, sizes[k], random);
      if (!made) return std::move(made).error().at("input '" + port.name + "'");
      out.push_back(std::move(*made));
    }
  }
  while (!out.empty() && out.back().empty_handle()) out.pop_back();
  return out;
}

}  // namespace tenon::cli
