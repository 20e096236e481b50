// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "runtime/libraries.h"
#include "runtime/run_options.h"

namespace tenon::runtime {

class Engine;

/// Allocates memory for values and scratch of an engine's runs in place of host memory: the arena of a device.
class RunMemory {
 public:
  virtual ~RunMemory() = default;
  /// Memory that is aligned to 4 KiB and zeroed. Errors: out_of_memory.
  virtual Result<std::byte*> allocate(uint64_t bytes) = 0;
  virtual void free(std::byte* memory, uint64_t bytes) = 0;
  /// Called before and after each run; the memory is accessed only in between.
  virtual Result<void> begin_run() { return {}; }
  virtual void end_run() {}
};

/// A segment that reads operands and writes results in the program's memory, without copies. The sizes of all results are known before a
/// run.
class InPlace {
 public:
  virtual ~InPlace() = default;
  /// Sets the shapes of operands and results: before the first run, and whenever sizes change.
  virtual Result<void> set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places) = 0;
  /// Whether results may stay in memory of the segment: then a place may be null, and after the run kept_result() returns the address of
  /// that result, which is valid until the next run.
  virtual bool keeps_results() const { return false; }
  virtual void* kept_result(size_t /*place*/) const { return nullptr; }
  /// Runs with these addresses of operands and results (places). Allocates nothing.
  virtual Result<void> run_in_place(void* const* operands, void* const* places, const RunOptions& options, int threads) = 0;
};

/// A part of an engine that a device runs. Not thread-safe: each context has its own.
class Segment {
 public:
  virtual ~Segment() = default;
  /// The sizes that the blob reads from the enclosing program, in the order of backend::Blob::sizes. Called before a run where there are
  /// any.
  virtual void set_sizes(std::span<const int64_t> /*sizes*/) {}
  /// operands: without the blob's weights; a handle that is empty where one is missing. places: one a result: memory of the plan that the
  /// result belongs in (row-major), or an empty handle where its size is unknown before the run. Returns one tensor a result: its
  /// place, once written, or a tensor of its own, whose elements the caller copies. The caller checks types and shapes of results against
  /// those that the program declares.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places, const RunOptions& options) = 0;
  /// Null: the segment does not run in place.
  virtual InPlace* in_place() { return nullptr; }
};

/// The argument of Device::make. `bytes`, and the bytes of the weights, live as long as the segment.
struct BlobView {
  std::string_view bytes;                 ///< what the backend of the device's name compiled the segment to
  std::span<const Tensor> weights = {};   ///< the constants that it requested (backend::Blob::weights), in its order
  int threads = 1;                        ///< that runs may take
  const Engine* engine = nullptr;         ///< that the segment is part of
  std::span<const uint32_t> graphs = {};  ///< programs of the engine that the segment may run (InnerGraph)
};

/// The run side of a backend: makes and runs its segments. Shared between threads.
class Device {
 public:
  virtual ~Device() = default;
  /// The name of its backend.
  virtual std::string_view name() const = 0;
  /// Opens the library that it runs on, where it needs one; called when an engine is loaded that has segments for it.
  /// Errors: those of open_library; wrong_target for a library that is too old.
  virtual Result<void> open() const { return {}; }
  /// The device for one engine, whose blobs for it are these and live as long as the engine: where it has data that all contexts of the
  /// engine share. Null: this device serves every engine. Errors: all requirements of the blobs that are not met, in one error.
  virtual Result<std::shared_ptr<const Device>> for_engine(std::span<const std::string_view> /*blobs*/) const {
    return std::shared_ptr<const Device>();
  }
  /// Whether contexts allocate values in SharedMemory, which other processes can map.
  virtual bool shares_memory() const { return false; }
  /// Whether make() is fast. A build then calls it once for each segment, so that an unreadable blob is an error of the build.
  virtual bool is_fast_to_make() const { return false; }
  /// Errors: bad_file and others for a blob that the device cannot read.
  virtual Result<std::unique_ptr<Segment>> make(const BlobView& blob) const = 0;
};
using Devices = std::vector<std::shared_ptr<const Device>>;

/// `DEVICE(name) { return std::make_shared<...>(); }` in src/backends/NAME/device/NAME.cpp, namespace tenon::backends; `libraries` says
/// where the library is that it needs. The folder listing is the registration.
#define DEVICE(IDENT)                                                                                 \
  std::shared_ptr<const ::tenon::runtime::Device> device_##IDENT(const ::tenon::runtime::Libraries&); \
  std::shared_ptr<const ::tenon::runtime::Device> device_##IDENT([[maybe_unused]] const ::tenon::runtime::Libraries& libraries)

}  // namespace tenon::runtime
