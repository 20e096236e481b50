// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::import {

/// A graph as an ONNX model for another runtime, with its large weights separate. Names are positions: inputs i0, i1, ..., outputs o0, o1,
/// ..., weights w0, w1, ...
struct Detached {
  std::string model;
  std::vector<ir::ConstantRef> weights;  ///< each once, however often it is used; may be lazy: materialise it before use
};

/// How export_detached() writes a graph.
struct DetachOptions {
  /// How a weight is declared: as an initializer with external data in a file that does not exist, or as an input after the others (then
  /// constants of bodies stay in the model).
  enum class Weights : uint8_t { initializers, inputs } weights = Weights::initializers;
  bool names = true;  ///< keep names of nodes and their provenance; without them equal graphs give equal bytes
};

/// Exports a graph with its weights of 1 KiB and more separate, except strings. Errors: those of export_onnx_bytes.
Result<Detached> export_detached(const ir::Graph& graph, const DetachOptions& options = {});

}  // namespace tenon::import
