// SPDX-License-Identifier: Apache-2.0
#include "cli/options/model_options.h"

#include <algorithm>
#include <charconv>

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

Error bad_shape(std::string_view text, std::string what, std::string_view found) {
  return fail(Code::bad_usage, "--shape " + std::string(text), std::move(what))
      .expected("NAME=1x128, NAME=*x128 or NAME=batch,128")
      .found(std::string(found));
}

Result<import::RequestedDim> parse_dim(std::string_view word, std::string_view text) {
  if (word == "*") return import::RequestedDim{};
  int64_t size = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
  if (error == std::errc() && end == word.data() + word.size() && size >= 0) return import::RequestedDim{size, {}};
  const bool name = !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])) &&
                    std::ranges::all_of(word, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  if (!name) return bad_shape(text, "a size is neither a number, * nor a name", word);
  return import::RequestedDim{std::nullopt, std::string(word)};
}

}  // namespace

Result<import::RequestedShape> parse_shape(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return bad_shape(text, "a shape needs the name of its input", text);
  import::RequestedShape out{std::string(text.substr(0, equals)), {}};
  std::string_view sizes = text.substr(equals + 1);
  const char separator = sizes.find(',') == std::string_view::npos ? 'x' : ',';
  while (!sizes.empty()) {
    const size_t end = std::min(sizes.find(separator), sizes.size());
    out.dims.push_back(TRY(parse_dim(sizes.substr(0, end), text)));
    if (end + 1 == sizes.size()) return bad_shape(text, "a size is missing at the end", text);
    sizes.remove_prefix(std::min(end + 1, sizes.size()));
  }
  return out;
}

void ModelOptions::add_to(CLI::App& app, std::string_view model_help) {
  app.add_option("MODEL", path, std::string(model_help))->required();
  app.add_option("--external-data", external_data, "folder of the model's external data (default: the model's own)")->type_name("DIR");
  app.add_option("--shape", shapes, "fix an input's shape: NAME=1x128; * stays open, a name makes a symbol")
      ->type_name("NAME=SIZES")
      ->allow_extra_args(false);
}

Result<import::ImportOptions> ModelOptions::import_options() const {
  import::ImportOptions out;
  out.external_data_dir = external_data;
  out.metadata = metadata;
  for (const std::string& s : shapes) out.shapes.push_back(TRY(parse_shape(s)));
  return out;
}

Result<import::Imported> ModelOptions::import() const { return import::import_onnx(path, TRY(import_options())); }

}  // namespace tenon::cli
