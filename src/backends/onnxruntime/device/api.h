// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/onnxruntime/device/c_api.h"
#include "base/result.h"
#include "runtime/libraries.h"

namespace tenon::backends::onnxruntime {

using runtime::Owned;

/// The library, open and ready. Shared between threads.
class Api {
 public:
  /// Errors: those of runtime::open_library; bad_file for a library that is no ONNX Runtime, wrong_target for one that is too old.
  static Result<std::shared_ptr<const Api>> open(const runtime::Libraries& libraries);

  template <class Signature>
  Signature* operator[](Function<Signature> f) const {
    return reinterpret_cast<Signature*>(const_cast<void*>(table_[f.place]));
  }
  /// Errors: device_failed with the library's message, where the status is an error.
  Result<void> check(Status* status) const;
  /// The object that `create(out)` makes.
  template <class T, class Create>
  Result<Owned<T>> make(Function<void(T*)> release, Create create) const {
    T* made = nullptr;
    TRY(check(create(&made)));
    return Owned<T>(made, (*this)[release]);
  }

  const std::filesystem::path& file() const { return file_; }
  const std::string& version() const { return version_; }
  const std::vector<std::filesystem::path>& custom_ops() const { return custom_ops_; }
  const Env* env() const { return env_.get(); }
  const MemoryInfo* memory() const { return memory_.get(); }

 private:
  Api() = default;
  Result<void> try_custom_ops() const;
  std::filesystem::path file_;
  std::string version_;
  const void* const* table_ = nullptr;
  std::vector<std::filesystem::path> custom_ops_;  ///< operator libraries, which each session registers
  Owned<Env> env_{nullptr, nullptr};
  Owned<MemoryInfo> memory_{nullptr, nullptr};
};

}  // namespace tenon::backends::onnxruntime
