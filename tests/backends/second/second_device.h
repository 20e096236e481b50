// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>

#include "runtime/device.h"

namespace tenon::tests {

/// Memory of one segment of `second`: mapped without access outside of its runs, so that whatever reads or writes it then is a fault.
class SecondArena final : public runtime::RunMemory {
 public:
  ~SecondArena() override;
  Result<std::byte*> allocate(uint64_t bytes) override;
  void free(std::byte* memory, uint64_t bytes) override;
  Result<void> begin_run() override;
  void end_run() override;

  /// Where and how large its pieces are.
  const std::map<std::byte*, uint64_t>& pieces() const { return pieces_; }
  size_t runs() const { return runs_; }

 private:
  Result<void> protect(int access);
  std::map<std::byte*, uint64_t> pieces_;
  bool is_open_ = false;
  size_t runs_ = 0;
};

/// The device of `second`, and the arenas of the segments that it has made.
class SecondDevice final : public runtime::Device {
 public:
  std::string_view name() const override { return "second"; }
  bool is_fast_to_make() const override { return true; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override;

  std::vector<std::weak_ptr<SecondArena>> arenas() const { return arenas_; }

 private:
  mutable std::vector<std::weak_ptr<SecondArena>> arenas_;
};

}  // namespace tenon::tests
