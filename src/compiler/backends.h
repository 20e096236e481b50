// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "runtime/device.h"

namespace tenon::compiler {

/// The backends that were linked in and their devices, with the libraries that some of them run on. Keeps the backends that it gives.
class Registry {
 public:
  /// Errors: bad_usage for a library of a backend that there is none of, or that needs none.
  static Result<std::shared_ptr<const Registry>> make(runtime::Libraries libraries);

  /// All, by name.
  std::span<const backend::Backend* const> all() const { return all_; }
  /// Those of these names, in their order, then `cpu` and `reference` where they are not among them: the one is the host backend, the other
  /// runs what is left. Errors: bad_usage for a name that none has, or that comes twice; a library that is missing or wrong.
  Result<backend::Backends> named(std::span<const std::string> names = {}) const;
  /// Whether one of these may run ops that are unknown to Tenon.
  bool run_unknown_ops(std::span<const std::string> names) const;
  /// `ops`: what the nodes of an engine may be; outlives the devices.
  runtime::Devices devices(const ir::OpTable& ops) const;
  const runtime::Libraries& libraries() const { return libraries_; }

 private:
  explicit Registry(runtime::Libraries libraries);
  friend const Registry& usual_registry();
  runtime::Libraries libraries_;
  std::vector<std::unique_ptr<const backend::Backend>> kept_;
  backend::Backends all_;
};

/// With no library named: each is looked for where it is usually installed.
const Registry& usual_registry();
/// Of the usual registry.
inline std::span<const backend::Backend* const> all_backends() { return usual_registry().all(); }
inline Result<backend::Backends> backends_named(std::span<const std::string> names = {}) { return usual_registry().named(names); }
inline runtime::Devices all_devices(const ir::OpTable& ops) { return usual_registry().devices(ops); }

}  // namespace tenon::compiler
