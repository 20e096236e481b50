// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/options/model_options.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// Inputs for a run: those given as NAME=FILE (.npy, .npz), random ones for the rest.
struct InputOptions {
  std::vector<std::string> files;
  uint64_t seed = 1;

  void add_to(CLI::App& app);
  /// shapes: see compiler::default_shapes.
  /// Integer inputs are drawn small enough to be token numbers; masks are ones.
  Result<std::vector<Tensor>> inputs(const runtime::Engine& engine, const std::vector<import::RequestedShape>& shapes) const;
  Result<std::vector<Tensor>> inputs(std::span<const runtime::PortInfo> ports, const std::vector<import::RequestedShape>& shapes) const;
};

}  // namespace tenon::cli
