// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/calibration.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/version.h"
#include "compiler/measure/append_line.h"
#include "compiler/measure/cache_path.h"
#include "compiler/measure/environment_text.h"

namespace tenon::compiler {

namespace {

std::string key_of(const backend::Backend& backend) {
  return hash128(fmt::format("{}\n{}\n{}\n{}", kProducer, cpu_text(), backend.name(), library_version_text(backend))).text();
}

bool is_time(double ns) { return std::isfinite(ns) && ns >= 0; }

}  // namespace

Calibration::Calibration(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::ifstream in(path_);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string hash, name;
    Entry e;
    if (words >> hash >> e.launch_ns >> e.copy_ns >> e.copy_ns_per_byte >> name && is_time(e.launch_ns) && is_time(e.copy_ns) &&
        is_time(e.copy_ns_per_byte))
      entries_[hash] = e;
  }
}

std::optional<backend::Overheads> Calibration::find(const backend::Backend& backend) const {
  if (entries_.empty()) return std::nullopt;
  const auto found = entries_.find(key_of(backend));
  if (found == entries_.end()) return std::nullopt;
  backend::Overheads out = backend.overheads();
  out.launch_ns = found->second.launch_ns;
  out.copy_ns = found->second.copy_ns;
  out.copy_ns_per_byte = found->second.copy_ns_per_byte;
  out.source = backend::Overheads::Source::calibrated;
  return out;
}

Result<void> Calibration::add(const backend::Backend& backend, const backend::Overheads& measured) {
  const std::string key = key_of(backend);
  entries_[key] = {measured.launch_ns, measured.copy_ns, measured.copy_ns_per_byte};
  return append_line(path_, fmt::format("{} {:.1f} {:.1f} {:.6f} {}", key, measured.launch_ns, measured.copy_ns, measured.copy_ns_per_byte,
                                        backend.name()));
}

std::shared_ptr<const Calibration> read_calibration() { return std::make_shared<const Calibration>(cache_path(kCalibrationFile)); }

}  // namespace tenon::compiler
