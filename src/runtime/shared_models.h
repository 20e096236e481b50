// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "runtime/device.h"

namespace tenon::runtime {

/// Models that a device made from blobs with an external library. Contexts of one engine share the model of a blob.
/// Safe from several threads.
template <class Api, class Model>
class SharedModels {
 public:
  explicit SharedModels(Libraries libraries) : libraries_(std::move(libraries)) {}

  /// The library, opened on first use.
  Result<std::shared_ptr<const Api>> api() const {
    const std::lock_guard held(lock_);
    if (!api_) api_ = TRY(Api::open(libraries_));
    return api_;
  }

  /// make(api): a Result of a new one.
  template <class Make>
  Result<std::shared_ptr<const Model>> of(const BlobView& blob, Make make) const {
    const std::shared_ptr<const Api> api = TRY(this->api());
    const std::lock_guard held(lock_);
    std::weak_ptr<const Model>& shared = models_[{blob.bytes.data(), blob.threads}];
    std::shared_ptr<const Model> model = shared.lock();
    if (!model) shared = model = TRY(make(api));
    return model;
  }

 private:
  Libraries libraries_;
  mutable std::mutex lock_;
  mutable std::shared_ptr<const Api> api_;
  mutable std::map<std::pair<const char*, int>, std::weak_ptr<const Model>> models_;
};

}  // namespace tenon::runtime
