// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/contains.h"
#include "engine/magic.h"
#include "files/mapped_file.h"
#include "import/cached_branch.h"
#include "import/filled_inputs.h"
#include "import/onnx_expansion.h"
#include "import/onnx_maker.h"
#include "import/onnx_upgrade.h"
#include "import/state_pairs.h"
#include "import/stateful_decoder.h"
#include "ops/core/op.h"
#include "ops/core/random_streams.h"
#include "ops/core/unknown.h"

namespace tenon::import {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Keeps the selected outputs, in the model's order.
Result<void> keep_outputs(ir::Graph& graph, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return {};
  std::vector<std::string> names;
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) names.push_back(graph.output_name(k));
  for (const std::string& name : wanted)
    if (!contains(names, name))
      return fail(Code::bad_input, "output '" + name + "'", "the model has no output of this name")
          .expected(fmt::format("{}", fmt::join(names, ", ")))
          .found(name);
  for (auto k = static_cast<uint32_t>(names.size()); k-- > 0;)
    if (!contains(wanted, names[k])) graph.erase_output(k);
  return {};
}

/// The ports of a decoder, whose cached branch is taken; nullopt: the model is read as it is.
Result<std::optional<DecoderPorts>> decoder_of(OnnxModel& model, const std::vector<std::string>& states, const std::string& file) {
  const auto wanted = TRY(decoder_states(states));
  if (!wanted) return std::nullopt;
  take_cached_branch(model.graph);
  return TRY(decoder_ports(model.graph, *wanted, file));
}

std::vector<RequestedShape> shapes_of(const std::vector<RequestedShape>& given, const std::optional<DecoderPorts>& decoder) {
  std::vector<RequestedShape> out = given;
  if (decoder) out.insert(out.end(), decoder->shapes.begin(), decoder->shapes.end());
  return out;
}

Result<Imported> import_bytes(std::string_view bytes, std::shared_ptr<const void> keeper, const std::string& file,
                              std::optional<files::ExternalData> data, const ImportOptions& options, bool& has_defaults) {
  OnnxModel model = TRY(parse_onnx(bytes, file, options.limits));
  const auto decoder = TRY(decoder_of(model, options.states, file));
  FunctionTable functions;
  TRY(functions.fill(model));
  const bool open = options.keep_unknown || (options.unknown_ops && !check_support(model, functions, *options.ops, file));
  const ir::OpTable& ops = open ? ops::table_with_unknown_ops(*options.ops) : *options.ops;
  Imported out;
  out.warnings = TRY(check_support(model, functions, ops, file));
  TRY(check_expansion(model, functions, ops, options.limits, file));
  out.graph = std::make_unique<ir::Graph>(ops);
  for (const OnnxOpset& o : model.opsets) out.opsets.emplace_back(std::string(o.domain), o.version);
  out.graph->opsets = out.opsets;
  out.producer = std::string(model.producer);
  if (!model.producer_version.empty()) out.producer += " " + std::string(model.producer_version);

  TypeReader types(out.graph->symbols(), file);
  TRY(types.learn(model.graph.inputs, shapes_of(options.shapes, decoder)));
  TensorReader tensors({file, bytes.data()}, std::move(keeper), std::move(data), options.limits);
  GraphMaker maker(functions, types, tensors, options.limits,
                   {options.metadata, options.weights_by_reference, options.freeze_defaults || decoder});
  TRY(maker.make(model, *out.graph));
  has_defaults = maker.has_defaults();
  if (decoder) TRY(fill_inputs(*out.graph, *decoder));
  GraphUpgrader upgrader(maker.notes(), types, options.keep_unknown);
  TRY(upgrader.upgrade_graph(*out.graph));
  upgrader.name_sizes(*out.graph);
  const auto& warned = maker.warnings();
  out.warnings.insert(out.warnings.end(), warned.begin(), warned.end());
  out.warnings.insert(out.warnings.end(), upgrader.warnings().begin(), upgrader.warnings().end());
  for (std::string& w : TRY(upgrader.check_outputs(*out.graph, model.graph.outputs))) out.warnings.push_back(std::move(w));
  TRY(keep_outputs(*out.graph, options.outputs));
  TRY(decoder ? make_stateful(*out.graph, *decoder) : pair_states(*out.graph, options.states));
  ops::number_random_streams(*out.graph);
  return out;
}

/// No interval is left; false: there was none.
bool drop_intervals(std::vector<RequestedShape>& shapes) {
  bool any = false;
  for (RequestedShape& shape : shapes)
    for (RequestedDim& dim : shape.dims) {
      any |= dim.interval.has_value();
      dim.interval.reset();
    }
  return any;
}

/// Where some node requires constants, inputs with defaults become constants, with a warning that gives the reason.
Result<Imported> import_once(std::string_view bytes, const std::shared_ptr<const void>& keeper, const std::string& file,
                             const std::optional<files::ExternalData>& data, const ImportOptions& options) {
  bool has_defaults = false;
  auto out = import_bytes(bytes, keeper, file, data, options, has_defaults);
  if (out || !has_defaults || options.freeze_defaults) return out;
  ImportOptions freezing = options;
  freezing.freeze_defaults = true;
  auto frozen = import_bytes(bytes, keeper, file, data, freezing, has_defaults);
  if (!frozen) return frozen;
  frozen->warnings.push_back("with inputs for its defaults the model is refused: " + out.error().text());
  return frozen;
}

/// Imports the model twice: for the requested intervals of sizes, and without them (Imported::unbounded).
Result<Imported> import_both(std::string_view bytes, std::shared_ptr<const void> keeper, const std::string& file,
                             const std::optional<files::ExternalData>& data, const ImportOptions& options) {
  Imported out = TRY(import_once(bytes, keeper, file, data, options));
  ImportOptions unbounded = options;
  if (drop_intervals(unbounded.shapes)) out.unbounded = std::move(TRY(import_once(bytes, keeper, file, data, unbounded)).graph);
  return out;
}

}  // namespace

Result<Imported> import_onnx(const std::filesystem::path& path, const ImportOptions& options) {
  const auto file = TRY(files::MappedFile::open(path));
  if (engine::has_magic(file->bytes()))
    return fail(Code::bad_file, path.string(), "the file is an engine, not an ONNX model")
        .expected("an ONNX model")
        .found("an engine")
        .advice("give the model that the engine was built from");
  const bool chosen = !options.external_data_dir.empty();
  const std::filesystem::path own = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return import_both(text_of(file->bytes()), file, path.string(), files::ExternalData(chosen ? options.external_data_dir : own, chosen),
                     options);
}

Result<Imported> import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const ImportOptions& options) {
  std::optional<files::ExternalData> data;
  if (!options.external_data_dir.empty()) data.emplace(options.external_data_dir, true);
  return import_both(text_of(bytes), std::move(keeper), "model in memory", data, options);
}

}  // namespace tenon::import
