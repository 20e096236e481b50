// SPDX-License-Identifier: Apache-2.0
// What a plugin may use in a context.
#pragma once
#include <cstdlib>

#include "tenon/trt/registry.hpp"

namespace tenon::trt::detail {

/// Memory of this machine.
class Allocator final : public IGpuAllocator {
 public:
  void* allocate(uint64_t size, uint64_t alignment, AllocatorFlags) noexcept override {
    const uint64_t step = alignment > 64 ? alignment : 64;
    return size == 0 ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
  }
  bool deallocate(void* memory) noexcept override {
    std::free(memory);
    return true;
  }
};

/// Errors that are reported are logged, and so part of what the run says.
class ErrorRecorder final : public IErrorRecorder {
 public:
  int32_t getNbErrors() const noexcept override { return 0; }
  ErrorCode getErrorCode(int32_t) const noexcept override { return ErrorCode::kSUCCESS; }
  ErrorDesc getErrorDesc(int32_t) const noexcept override { return ""; }
  bool hasOverflowed() const noexcept override { return false; }
  void clear() noexcept override {}
  bool reportError(ErrorCode, ErrorDesc desc) noexcept override {
    getLogger()->log(ILogger::Severity::kERROR, desc);
    return false;
  }
  RefCount incRefCount() noexcept override { return 1; }
  RefCount decRefCount() noexcept override { return 1; }
};

class ResourceContext final : public IPluginResourceContext {
 public:
  IGpuAllocator* getGpuAllocator() const noexcept override { return &allocator_; }
  IErrorRecorder* getErrorRecorder() const noexcept override {
    IErrorRecorder* const given = registry().getErrorRecorder();
    return given ? given : &recorder_;
  }

 private:
  mutable Allocator allocator_;
  mutable ErrorRecorder recorder_;
};
TENON_TRT_OWN inline ResourceContext& resource_context() {
  static ResourceContext& own = *new ResourceContext;
  return own;
}

}  // namespace tenon::trt::detail
