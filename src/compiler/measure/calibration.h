// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>

#include "backend/backend.h"
#include "base/hash.h"

namespace tenon::compiler {

/// Overheads of backends as calibrate() measured them on this machine, in a text file. Each line is
/// "HASH LAUNCH COPY COPY_PER_BYTE NAME", times in nanoseconds; the last line of a backend is valid. The hash covers the backend, its
/// library, this CPU and this release of Tenon, so that results of another release, CPU or library are ignored. Malformed lines are
/// skipped.
class Calibration {
 public:
  /// A missing file, or an empty path, gives an empty calibration.
  explicit Calibration(std::filesystem::path path);
  /// The backend's overheads with the measured times in place of its guesses; nullopt where the file has none of it.
  std::optional<backend::Overheads> find(const backend::Backend& backend) const;
  /// Errors: write_failed.
  Result<void> add(const backend::Backend& backend, const backend::Overheads& measured);

 private:
  struct Entry {
    double launch_ns = 0, copy_ns = 0, copy_ns_per_byte = 0;
  };
  std::filesystem::path path_;
  std::unordered_map<std::string, Entry> entries_;  ///< by hash
};

/// Reads what `tenon calibrate` stored on this machine.
std::shared_ptr<const Calibration> read_calibration();

}  // namespace tenon::compiler
