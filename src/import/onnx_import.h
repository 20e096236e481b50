// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "files/text_assets.h"
#include "import/onnx_model.h"
#include "import/onnx_types.h"
#include "ir/graph.h"
#include "ops/core/op.h"

namespace tenon::import {

/// How a model is read.
struct ImportOptions {
  std::filesystem::path external_data_dir;  ///< empty: the model's own folder
  OnnxLimits limits;
  std::vector<RequestedShape> shapes;      ///< --shape
  std::vector<std::string> outputs = {};   ///< names of the model's outputs to keep; empty: all
  std::vector<std::string> states = {};    ///< --state: see pair_states; "auto": a decoder (see decoder_states)
  const ir::OpTable* ops = &ops::table();  ///< ops of the nodes; must outlive the graph
  /// Ops that are neither in the table nor functions of the model become unknown ops (ops::table_with_unknown_ops(*ops)); so do, with a
  /// warning, nodes that violate the schema of their op.
  bool keep_unknown = false;
  /// As keep_unknown for ops that are not in the table; a node that violates the schema of its op is an error.
  bool unknown_ops = false;
  /// Weights in missing files, or of a model without a folder, become references that are not read (ir::Constant::Reference).
  bool weights_by_reference = false;
  /// Inputs with a default (initializers that are inputs too, from IR version 4 on) become constants, with a warning. Else they are inputs
  /// with defaults (ir::Graph::set_default), after the others.
  bool freeze_defaults = false;
  bool metadata = false;  ///< nodes keep the metadata that their exporter wrote, for tools that write the model again
};

/// A model that was read.
struct Imported {
  std::unique_ptr<ir::Graph> graph;
  std::unique_ptr<ir::Graph> unbounded;  ///< where intervals of sizes were requested: the model without them
  std::vector<std::string> warnings;
  std::vector<std::string> notes;                       ///< messages for the user that are no warnings
  std::string format = "ONNX";                          ///< format of the model: "ONNX" or "checkpoint"
  std::string producer;                                 ///< "pytorch 2.13.0"; of a checkpoint its family
  std::vector<std::pair<std::string, int64_t>> opsets;  ///< domains and versions that the model imports
  files::TextAssets text;                               ///< of a language model's checkpoint
};

/// Reads an ONNX model into a graph of the newest ops, every value typed. Weights stay in the mapped files.
/// Errors: file_missing, bad_file, file_unsafe, limit_exceeded, bad_graph, bad_attribute, bad_input (a requested shape or output),
/// not_supported (one error for all ops), and errors of inference, with the node as place.
/// Cost: linear in the nodes and the small tensors; memory O(file) besides the mapping.
Result<Imported> import_onnx(const std::filesystem::path& path, const ImportOptions& options = {});
/// Reads a model from memory. keeper: owner of `bytes`, which constants of the graph keep; null: constants are copies.
/// External data needs options.external_data_dir.
Result<Imported> import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const ImportOptions& options = {});

}  // namespace tenon::import
