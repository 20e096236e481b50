// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "compiler/backends.h"

/// Libraries of others, for the tests that run on them: those of .venv-peers, which ./dev test installs.
namespace tenon::tests {

inline runtime::Libraries peer_libraries() {
  runtime::Libraries out;
  std::error_code ignored;
  for (const auto& python : std::filesystem::directory_iterator(TENON_PEERS "/lib", ignored))
    if (const auto packages = python.path() / "site-packages"; std::filesystem::exists(packages)) out.packages.push_back(packages);
  return out;
}

/// Keeps what it knows of nodes, so that all tests ask a backend once.
inline std::shared_ptr<const compiler::Registry> peers() {
  static const auto registry = *compiler::Registry::make(peer_libraries());
  return registry;
}

/// Empty where the backend's library is not there: skip.
inline backend::Backends with_peer(const std::string& name) {
  const auto named = peers()->named(std::vector<std::string>{name});
  return named ? *named : backend::Backends();
}

}  // namespace tenon::tests
