// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/plugin_options.h"
#include "compiler/options/checkpoint_options.h"
#include "import/onnx_import.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// "ids=1x128", "x=*x3x224x224" (* keeps the model's size), "x=batch,3,224,224" (a name is a symbol), "x=" (a scalar).
/// Sizes are parted by x or by commas; names that contain an x need commas.
/// Errors: bad_usage.
Result<import::RequestedShape> parse_shape(std::string_view text);

/// The options of every verb that reads a model: MODEL, --external-data, --shape, --only-output, --state, --freeze-defaults, --context,
/// --lora, --weights, --kv, and those of PluginOptions.
struct ModelOptions {
  std::string path;
  std::string external_data;
  std::vector<std::string> shapes;
  std::vector<std::string> outputs;  ///< outputs to compute; empty: all
  std::vector<std::string> states;   ///< inputs and outputs that are states: import::pair_states
  bool unknown_ops = false;          ///< unknown ops become opaque nodes, for a backend that may run them
  int64_t context = 0;               ///< of a checkpoint, as the next three
  std::vector<std::string> lora;     ///< FILE or FILE=SCALE
  std::string weights = "keep";
  std::string kv = "f32";
  std::string build_config;  ///< a JSON file; an option of `tenon build` alone, as the next one
  int64_t batch = 1;         ///< of a checkpoint, as the next two
  int64_t window = 0, sinks = 0;
  bool freeze_defaults = false;
  PluginOptions plugins;
  bool metadata = false;  ///< keep the metadata of nodes, such as their modules

  void add_to(CLI::App& app, std::string_view model_help = "an ONNX model");
  /// Errors: bad_usage.
  Result<import::ImportOptions> import_options() const;
  /// Errors: those of compiler::read_build_config.
  Result<compiler::CheckpointOptions> checkpoint_options() const;
  /// Whether MODEL is an engine, by its first bytes; a file named .tenon that begins neither as an engine nor as a model counts as a
  /// damaged engine.
  bool is_engine() const;
  /// Reads the model.
  Result<import::Imported> import() const;
};

}  // namespace tenon::cli
