// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/options/model_options.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// Inputs for a run: those given as NAME=FILE (.npy, .npz), random ones for the rest.
struct InputOptions {
  std::vector<std::string> files;
  std::optional<uint64_t> seed;  ///< of the random inputs (1 where it is not given), and of a run's random nodes

  void add_to(CLI::App& app);
  /// shapes: see compiler::default_shapes.
  /// Inputs with a default that are not given are left out.
  /// Integer inputs are drawn small enough to be token numbers; masks are ones.
  Result<std::vector<Tensor>> inputs(const runtime::Engine& engine, const std::vector<import::RequestedShape>& shapes) const;
  Result<std::vector<Tensor>> inputs(std::span<const runtime::PortInfo> ports, const std::vector<import::RequestedShape>& shapes) const;
};

}  // namespace tenon::cli
