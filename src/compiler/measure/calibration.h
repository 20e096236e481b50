// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>

#include "backend/backend.h"
#include "base/hash.h"

namespace tenon::compiler {

/// What backends were found to take here to start a segment and to bring values over a border (calibrate()), kept in a file: a line each,
/// "HASH LAUNCH COPY COPY_PER_BYTE NAME", in nanoseconds, of which the last one of a backend counts. The hash is of the backend, its
/// library, this CPU and this release of Tenon, whichever of its interfaces reads it: what was found under others is not found again. Lines
/// that are no such thing are passed over.
class Calibration {
 public:
  /// A file that is not there yet is empty; so is one without a path.
  explicit Calibration(std::filesystem::path path);
  /// The backend's overheads with what was found in place of its guesses; none where nothing was.
  std::optional<backend::Overheads> find(const backend::Backend& backend) const;
  /// Errors: write_failed.
  Result<void> add(const backend::Backend& backend, const backend::Overheads& found);

 private:
  struct Entry {
    double launch = 0, copy = 0, copy_per_byte = 0;
  };
  std::filesystem::path path_;
  std::unordered_map<std::string, Entry> entries_;  ///< by hash
};

/// What `tenon calibrate` kept on this machine.
std::shared_ptr<const Calibration> kept_calibration();

}  // namespace tenon::compiler
