// SPDX-License-Identifier: Apache-2.0
#include "cli/options/model_options.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include <CLI/CLI.hpp>

#include "cli/options/table_options.h"
#include "compiler/read_model.h"
#include "engine/magic.h"

namespace tenon::cli {
namespace {

Error bad_shape(std::string_view text, std::string what, std::string_view found) {
  return fail(Code::bad_usage, "--shape " + std::string(text), std::move(what))
      .expected("NAME=1x128, NAME=*x128, NAME=batch,128 or NAME=1x14:8x128:32x512")
      .found(std::string(found));
}

Result<import::RequestedDim> parse_dim(std::string_view word, std::string_view text) {
  if (word == "*") return import::RequestedDim{};
  int64_t size = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
  if (error == std::errc() && end == word.data() + word.size() && size >= 0) return import::RequestedDim{size, {}};
  const bool name = !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])) &&
                    std::ranges::all_of(word, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  if (!name) return bad_shape(text, "a size is neither a number, * nor a name", word.empty() ? text : word);
  return import::RequestedDim{std::nullopt, std::string(word)};
}

}  // namespace

namespace {

Result<std::vector<import::RequestedDim>> parse_dims(std::string_view sizes, std::string_view text) {
  std::vector<import::RequestedDim> out;
  const char separator = sizes.find(',') == std::string_view::npos ? 'x' : ',';
  while (!sizes.empty()) {
    const size_t end = std::min(sizes.find(separator), sizes.size());
    out.push_back(TRY(parse_dim(sizes.substr(0, end), text)));
    if (end + 1 == sizes.size()) return bad_shape(text, "a size is missing at the end", text);
    sizes.remove_prefix(std::min(end + 1, sizes.size()));
  }
  return out;
}

/// least:usual:most, of equal rank; an axis is an interval, one number, or open.
Result<std::vector<import::RequestedDim>> parse_intervals(std::string_view sizes, std::string_view text) {
  const size_t first = sizes.find(':'), second = sizes.find(':', first + 1);
  if (second == sizes.npos || sizes.find(':', second + 1) != sizes.npos)
    return bad_shape(text, "an interval is three shapes: the least, the usual and the most", sizes);
  const auto least = TRY(parse_dims(sizes.substr(0, first), text));
  const auto usual = TRY(parse_dims(sizes.substr(first + 1, second - first - 1), text));
  const auto most = TRY(parse_dims(sizes.substr(second + 1), text));
  if (least.size() != usual.size() || usual.size() != most.size()) return bad_shape(text, "three shapes of different ranks", sizes);
  std::vector<import::RequestedDim> out(least.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (!least[i].size && !usual[i].size && !most[i].size && least[i].symbol.empty()) continue;
    if (!least[i].size || !usual[i].size || !most[i].size)
      return bad_shape(text, "an interval needs three numbers, or * in all shapes", sizes);
    const import::SizeInterval interval{*least[i].size, *usual[i].size, *most[i].size};
    if (interval.least > interval.usual || interval.usual > interval.most)
      return bad_shape(text, "an interval's sizes are in order: the least, the usual, the most", sizes);
    if (interval.least == interval.most) out[i].size = interval.most;
    else out[i].interval = interval;
  }
  return out;
}

}  // namespace

Result<import::RequestedShape> parse_shape(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return bad_shape(text, "a shape needs the name of its input", text);
  const std::string_view sizes = text.substr(equals + 1);
  const bool intervals = sizes.find(':') != sizes.npos;
  return import::RequestedShape{std::string(text.substr(0, equals)),
                                TRY(intervals ? parse_intervals(sizes, text) : parse_dims(sizes, text))};
}

void ModelOptions::add_to(CLI::App& app, std::string_view model_help) {
  app.add_option("MODEL", path, std::string(model_help))->required()->type_name("FILE");
  add_table_option(app, "external_data", external_data);
  add_table_option(app, "ranges", shapes);
  add_table_option(app, "outputs", outputs);
  add_table_option(app, "states", states);
  add_table_option(app, "context", context);
  add_table_option(app, "lora", lora);
  add_table_option(app, "weights", weights)->capture_default_str();
  add_table_option(app, "kv", kv)->capture_default_str();
  add_table_option(app, "freeze_defaults", freeze_defaults);
  plugins.add_to(app);
}

Result<import::ImportOptions> ModelOptions::import_options() const {
  import::ImportOptions out;
  out.external_data_dir = external_data;
  out.outputs = outputs;
  out.states = states;
  out.metadata = metadata;
  out.ops = TRY(plugins.plugins()).ops;
  out.unknown_ops = unknown_ops;
  out.freeze_defaults = freeze_defaults;
  for (const std::string& s : shapes) out.shapes.push_back(TRY(parse_shape(s)));
  return out;
}

Result<compiler::CheckpointOptions> ModelOptions::checkpoint_options() const {
  return compiler::CheckpointOptions{.context = context,
                                     .lora = lora,
                                     .weights = compiler::stored_weights_named(weights),
                                     .kv = compiler::cache_type_named(kv),
                                     .batch = batch,
                                     .window = window,
                                     .sinks = sinks,
                                     .config = TRY(compiler::build_config_of(build_config, ""))};
}

bool ModelOptions::is_engine() const {
  if (engine::is_engine_file(path)) return true;
  constexpr int kIrVersion = 0x08;  // the first field of every ONNX model
  return std::filesystem::path(path).extension() == ".tenon" && std::ifstream(path, std::ios::binary).get() != kIrVersion;
}

Result<import::Imported> ModelOptions::import() const {
  return compiler::read_model(path, TRY(import_options()), TRY(checkpoint_options()));
}

}  // namespace tenon::cli
