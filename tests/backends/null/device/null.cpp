// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "runtime/device.h"

namespace tenon::backends {
namespace {

struct Zeros final : runtime::Segment {
  Result<std::vector<Tensor>> run(std::span<const Tensor>, std::span<const Tensor> places, const runtime::RunOptions&) override {
    std::vector<Tensor> results(places.begin(), places.end());
    for (Tensor& t : results)
      if (t.count() > 0) std::memset(t.mutable_data(), 0, static_cast<size_t>(t.byte_size()));
    return results;
  }
};
struct Null final : runtime::Device {
  std::string_view name() const override { return "null"; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView&) const override { return std::make_unique<Zeros>(); }
};

}  // namespace

DEVICE(null) { return std::make_shared<Null>(); }

}  // namespace tenon::backends
