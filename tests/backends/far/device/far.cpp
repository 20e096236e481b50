// SPDX-License-Identifier: Apache-2.0
// The half of `far` that runs: operands are copied to its memory, results from there, and it is as slow as it states.
#include <chrono>
#include <cstring>

#include "../behaviour.h"
#include "backends/reference/device/reference.h"

namespace tenon::tests {

namespace {

using Clock = std::chrono::steady_clock;
using Deed = FarBehaviour::Deed;

void take(double ns) {
  for (const auto start = Clock::now(); std::chrono::duration<double, std::nano>(Clock::now() - start).count() < ns;) {}
}

class Run final : public runtime::Segment {
 public:
  Run(std::unique_ptr<runtime::Segment> reference, const FarBehaviour& behaviour) : reference_(std::move(reference)), does_(behaviour) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places,
                                  const runtime::RunOptions& options) override {
    take(does_.overheads.launch_ns);
    const Deed deed = TRY(does_.act("run"));
    std::vector<Tensor> inside;
    for (const Tensor& t : operands) inside.push_back(t.empty_handle() ? t : TRY(over_the_border(t, Tensor(), options)));
    std::vector<Tensor> results;
    const std::vector<Tensor> none(places.size());
    for (const Tensor& t : TRY(reference_->run(inside, none, options)))
      results.push_back(TRY(over_the_border(t, places[results.size()], options)));
    return lie(std::move(results), deed);
  }

 private:
  Result<Tensor> over_the_border(const Tensor& t, const Tensor& place, const runtime::RunOptions& options) const {
    if (!t.has_bytes()) return t;
    const bool fits = !place.empty_handle() && place.dtype() == t.dtype() && place.shape() == t.shape();
    Tensor out = fits ? place : TRY(Tensor::make(t.dtype(), t.shape()));
    if (t.byte_size() > 0) std::memcpy(out.mutable_data(), t.data(), static_cast<size_t>(t.byte_size()));
    options.copied(t.byte_size());
    take(does_.overheads.copy_ns + does_.overheads.copy_ns_per_byte * static_cast<double>(t.byte_size()));
    return out;
  }

  static Result<std::vector<Tensor>> lie(std::vector<Tensor> results, Deed deed) {
    if (deed == Deed::shape) results[0] = TRY(Tensor::make(results[0].dtype(), {7}));
    if (deed == Deed::dtype) results[0] = TRY(Tensor::make(DType::u8, results[0].shape()));
    if (deed == Deed::number) results[0].mutable_data()[bits_of(results[0].dtype()) / 8 - 1] ^= std::byte{0x40};
    if (deed == Deed::count) results.clear();
    return results;
  }

  std::unique_ptr<runtime::Segment> reference_;
  const FarBehaviour& does_;
};

class FarDevice final : public runtime::Device {
 public:
  explicit FarDevice(FarBehaviour behaviour) : does_(std::move(behaviour)) {}
  std::string_view name() const override { return "far"; }
  Result<void> open() const override {
    TRY(does_.act("open"));
    return {};
  }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    TRY(does_.act("make"));
    return std::make_unique<Run>(TRY(reference_->make(blob)), does_);
  }

 private:
  const FarBehaviour does_;  // which outlives its segments: an engine keeps its devices
  const std::shared_ptr<const runtime::Device> reference_ = backends::reference::device();
};

}  // namespace

std::shared_ptr<const runtime::Device> far_device(FarBehaviour behaviour) { return std::make_shared<FarDevice>(std::move(behaviour)); }

}  // namespace tenon::tests

namespace tenon::backends {
DEVICE(far) { return tests::far_device(tests::FarBehaviour::of_environment()); }
}  // namespace tenon::backends
