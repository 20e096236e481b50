// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "runtime/device.h"

namespace tenon::compiler {

/// The backends in this build and their devices, with the external libraries that some of them need. Owns the backends.
class Registry {
 public:
  /// Errors: bad_usage for the library of a backend that does not exist or needs none.
  static Result<std::shared_ptr<const Registry>> make(runtime::Libraries libraries);

  /// All backends of this build, sorted by name.
  std::span<const backend::Backend* const> all() const { return all_; }
  /// The backends of these names, in their order, then `cpu` (the host backend) and `reference` (runs nodes that no other backend supports)
  /// where they are not among them. Errors: bad_usage for an unknown name, or one that comes twice; a library that is missing or wrong.
  Result<backend::Backends> named(std::span<const std::string> names = {}) const;
  /// Whether one of these backends may run ops that are not in the op table.
  bool run_unknown_ops(std::span<const std::string> names) const;
  /// The devices of all backends, for loading engines. ops: the table of ops of nodes that an engine stores as text; it must outlive the
  /// devices.
  runtime::Devices devices(const ir::OpTable& ops) const;
  const runtime::Libraries& libraries() const { return libraries_; }

 private:
  explicit Registry(runtime::Libraries libraries);
  friend const Registry& default_registry();
  runtime::Libraries libraries_;
  std::vector<std::unique_ptr<const backend::Backend>> owned_;
  backend::Backends all_;
};

/// The registry without named libraries: each is searched for where it is usually installed.
const Registry& default_registry();
/// The same functions of the default registry.
inline std::span<const backend::Backend* const> all_backends() { return default_registry().all(); }
inline Result<backend::Backends> backends_named(std::span<const std::string> names = {}) { return default_registry().named(names); }
inline runtime::Devices all_devices(const ir::OpTable& ops) { return default_registry().devices(ops); }

}  // namespace tenon::compiler
