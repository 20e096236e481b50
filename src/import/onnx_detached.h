// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::import {

/// A graph as ONNX for another runtime, its large weights separate. What it is called by is its place: inputs i0, i1, ..., outputs o0, o1,
/// ..., weights w0, w1, ...
struct Detached {
  std::string model;
  std::vector<ir::ConstantRef> weights;  ///< each once, however often it is used
};

struct DetachOptions {
  /// The form of a weight: an initializer whose bytes are in a file that is none, or an input after the others (constants of bodies
  /// stay in the model then).
  enum class Weights : uint8_t { initializers, inputs } weights = Weights::initializers;
  bool names = true;  ///< of nodes, and where they came from; without them equal graphs give equal bytes, whatever they were called
};

/// Weights of 1 KiB and more are detached, strings excepted. Errors: those of export_onnx_bytes.
Result<Detached> export_detached(const ir::Graph& graph, const DetachOptions& options = {});

}  // namespace tenon::import
