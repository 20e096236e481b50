// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace tenon::plugin {

/// Memory with a library's bytes that nobody can write any more, as a file that has a name for messages alone.
class SealedMemory {
 public:
  /// Errors: device_failed where the system gives no such memory.
  static Result<SealedMemory> of(std::string name, std::string_view bytes);
  /// What this process was given when it was started.
  SealedMemory(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}
  SealedMemory(SealedMemory&& other) noexcept : name_(std::move(other.name_)), descriptor_(other.keep()) {}
  SealedMemory& operator=(SealedMemory&&) = delete;
  ~SealedMemory();

  const std::string& name() const { return name_; }
  std::filesystem::path path() const { return path_of(descriptor_); }
  /// For this process.
  static std::filesystem::path path_of(int descriptor);
  /// The descriptor, which stays open when this dies.
  int keep() { return std::exchange(descriptor_, -1); }

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace tenon::plugin
