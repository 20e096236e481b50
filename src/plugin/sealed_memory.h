// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace tenon::plugin {

/// An anonymous file (memfd) with the bytes of a library, sealed against writes. Its name is only for messages.
class SealedMemory {
 public:
  /// Errors: device_failed where the system does not support it.
  static Result<SealedMemory> of(std::string name, std::string_view bytes);
  /// A descriptor that this process inherited.
  SealedMemory(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}
  SealedMemory(SealedMemory&& other) noexcept : name_(std::move(other.name_)), descriptor_(other.keep()) {}
  SealedMemory& operator=(SealedMemory&&) = delete;
  ~SealedMemory();

  const std::string& name() const { return name_; }
  std::filesystem::path path() const { return path_of(descriptor_); }
  /// A path of the descriptor in /proc, valid in this process.
  static std::filesystem::path path_of(int descriptor);
  /// Returns the descriptor and gives up its ownership.
  int keep() { return std::exchange(descriptor_, -1); }

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace tenon::plugin
