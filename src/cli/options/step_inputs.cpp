// SPDX-License-Identifier: Apache-2.0
#include "cli/options/step_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/port_values.h"
#include "compiler/shapes/default_shapes.h"
#include "files/npy.h"
#include "files/npz.h"
#include "runtime/container_value.h"

namespace tenon::cli {

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
    if (std::ranges::any_of(ports, [&](const runtime::PortInfo& p) { return compiler::is_array_of(name, p); })) continue;
    std::string names;
    for (const runtime::PortInfo& p : ports) names += (names.empty() ? "" : ", ") + compiler::array_names_of(p);
    return fail(Code::bad_input, place, "the model has no such input").expected(names.empty() ? "no input" : names).found(name);
  }
  return {};
}

/// Errors: bad_input where --shape gives another size than the file has.
Result<void> check_requested_sizes(const runtime::PortInfo& port, const Tensor& tensor, const std::vector<import::RequestedShape>& shapes) {
  for (const import::RequestedShape& shape : shapes)
    for (size_t d = 0; shape.input == port.name && d < std::min(shape.dims.size(), tensor.shape().size()); ++d)
      if (shape.dims[d].size && *shape.dims[d].size != tensor.shape()[d])
        return fail(Code::bad_input, "input '" + port.name + "'", "the file has another shape than --shape says")
            .expected(fmt::format("{} in dimension {}", *shape.dims[d].size, d))
            .found(type_text(tensor));
  return {};
}

/// Whether the array has a value for each step.
bool has_steps(const runtime::PortInfo& port, const Tensor& all) {
  return !runtime::is_container(port) && all.shape().size() == port.dimensions.size() + 1;
}

Result<void> check_step_axis(const runtime::PortInfo& port, const Tensor& all, int64_t steps) {
  if (all.shape()[0] != steps)
    return fail(Code::bad_input, "input '" + port.name + "'", "the file has values for another number of steps")
        .expected(fmt::format("{} in dimension 0, the number of steps, or an array without that dimension for all steps", steps))
        .found(type_text(all));
  if (bits_of(all.dtype()) % 8 != 0)
    return fail(Code::not_supported, "input '" + port.name + "'", "not supported yet: values by step of elements below a byte")
        .expected("elements of whole bytes")
        .found(type_text(all));
  return {};
}

/// The part of `all` for one step: a view that holds its memory; strings are copied.
Tensor values_of_step(const Tensor& all, int64_t step) {
  const Sizes shape(all.shape().begin() + 1, all.shape().end());
  const int64_t count = all.count() / all.shape()[0];
  if (all.dtype() == DType::string) {
    const auto first = all.strings().begin() + step * count;
    return Tensor::of_strings(shape, {first, first + count});
  }
  const int64_t bytes = all.byte_size() / all.shape()[0];
  return Tensor::view(all.dtype(), shape, all.data() + step * bytes, std::make_shared<const Tensor>(all));
}

}  // namespace

Result<StepInputs> StepInputs::make(const InputOptions& options, std::span<const runtime::PortInfo> ports,
                                    const std::vector<import::RequestedShape>& shapes, std::optional<int64_t> steps) {
  StepInputs out;
  for (const std::string& f : options.files) TRY(read_given(f, out.given_));
  TRY(check_names(out.given_, ports));
  out.ports_ = ports;
  out.requested_ = shapes;
  out.shapes_ = compiler::default_shapes(ports, shapes);
  out.steps_ = steps;
  out.random_.seed(options.seed.value_or(1));
  for (const runtime::PortInfo& port : ports)
    if (const Tensor* given = out.given(port)) TRY(out.check(port, *given));
  return out;
}

Result<std::vector<Tensor>> StepInputs::next() {
  std::vector<Tensor> out;
  for (size_t k = 0; k < ports_.size(); ++k) out.push_back(TRY(input(k)));
  ++step_;
  while (!out.empty() && out.back().empty_handle()) out.pop_back();
  return out;
}

const Tensor* StepInputs::given(const runtime::PortInfo& port) const {
  const auto found = std::ranges::find_if(given_, [&](const auto& g) { return g.first == port.name; });
  return found == given_.end() || runtime::is_container(port) ? nullptr : &found->second;
}

Result<void> StepInputs::check(const runtime::PortInfo& port, const Tensor& given) const {
  return steps_ && has_steps(port, given) ? check_step_axis(port, given, *steps_) : check_requested_sizes(port, given, requested_);
}

Result<Tensor> StepInputs::input(size_t k) {
  const runtime::PortInfo& port = ports_[k];
  if (const Tensor* all = given(port)) return steps_ && has_steps(port, *all) ? values_of_step(*all, step_) : *all;
  if (port.default_value) return Tensor();
  auto made =
      runtime::is_container(port) ? compiler::container_value(port, given_, random_) : compiler::random_tensor(port, shapes_[k], random_);
  if (!made) return std::move(made).error().at("input '" + port.name + "'");
  return made;
}

}  // namespace tenon::cli
