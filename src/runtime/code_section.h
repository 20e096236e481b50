// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/program_table.h"

namespace tenon::runtime {

/// Machine code of a program's kernels, for one target. Engine files and kernel blobs have one for each target.
struct CodeSection {
  uint32_t target = 0;                   ///< codegen::Target::tag
  std::string cpu_features;              ///< that the code needs: names as in CpuFeatures, separated by blanks
  std::vector<std::byte> bytes;          ///< position-independent
  std::vector<uint64_t> kernel_offsets;  ///< of the start of each kernel in `bytes`
};

/// Checks that each kernel starts within the code, and that the code has each kernel that `programs` call. Errors: bad_file, at `place`.
Result<void> check_code(const ProgramTable& programs, const CodeSection& code, std::string_view place);

/// Machine code mapped read-execute; never writable and executable at once.
class CodeMapping {
 public:
  CodeMapping() = default;
  CodeMapping(CodeMapping&& other) noexcept : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  CodeMapping& operator=(CodeMapping&& other) noexcept;
  ~CodeMapping();
  static Result<CodeMapping> map(std::span<const std::byte> code);
  const std::byte* base() const { return base_; }
  size_t size() const { return size_; }

 private:
  std::byte* base_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tenon::runtime
