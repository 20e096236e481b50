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

/// Memory that runs of an engine take for values and scratch, in place of the host's own: the arena of a device.
class RunMemory {
 public:
  virtual ~RunMemory() = default;
  /// Memory that is aligned to 4 KiB and zeroed. Errors: out_of_memory.
  virtual Result<std::byte*> allocate(uint64_t bytes) = 0;
  virtual void free(std::byte* memory, uint64_t bytes) = 0;
  /// A run begins, and has ended: only in between is the memory read and written.
  virtual Result<void> begin_run() { return {}; }
  virtual void end_run() {}
};

/// A segment that runs on memory as it lies, where all its results have places.
class InPlace {
 public:
  virtual ~InPlace() = default;
  /// As Segment::run, without running; before the first run, and whenever sizes are others.
  virtual Result<void> set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places) = 0;
  /// Whether it can leave results in memory of its own: then a place may be null, and kept() returns where the result is, after the run
  /// and until the next one.
  virtual bool keeps_results() const { return false; }
  virtual void* kept(size_t /*place*/) const { return nullptr; }
  /// Where the elements of the operands and places are. Allocates nothing.
  virtual Result<void> run_in_place(void* const* operands, void* const* places, const RunOptions& options, int threads) = 0;
};

/// A part of an engine that a device runs, ready to run. Not thread-safe: one a context.
class Segment {
 public:
  virtual ~Segment() = default;
  /// The sizes that the blob reads from the program around it (backend::Blob::sizes), in its order: before a run, where there are some.
  virtual void set_sizes(std::span<const int64_t> /*sizes*/) {}
  /// operands: without the blob's weights; a handle that is empty where one is missing. places: one a result: memory of the plan that the
  /// result belongs in (row-major), or an empty handle where its size is unknown before the run. Returns one tensor a result: its
  /// place, once written, or a tensor of its own, whose elements the caller moves. Whatever comes back is checked against what the model
  /// promises.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places, const RunOptions& options) = 0;
  /// Null: it only runs on tensors.
  virtual InPlace* in_place() { return nullptr; }
};

/// What a device makes a segment from. `bytes`, and the bytes of the weights, live as long as the segment.
struct BlobView {
  std::string_view bytes;                 ///< what the backend of the device's name compiled the segment to
  std::span<const Tensor> weights = {};   ///< the constants that it requested (backend::Blob::weights), in its order
  int threads = 1;                        ///< that runs may take
  const Engine* engine = nullptr;         ///< whose segment it is, and
  std::span<const uint32_t> graphs = {};  ///< those of its inner graphs that the segment may run: see InnerGraph
};

/// Runs what is no kernel of ours: the segments of one backend, whose name it bears. Shared between threads.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  /// Opens the library that it runs on, where it needs one; called when an engine is loaded that has segments for it.
  /// Errors: those of open_library; wrong_target for a library that is too old.
  virtual Result<void> open() const { return {}; }
  /// The device for one engine, whose blobs for it are these and live as long as the engine: where it keeps something for all contexts.
  /// Null: it serves every engine. Errors: what blobs need and is not there, all in one.
  virtual Result<std::shared_ptr<const Device>> for_engine(std::span<const std::string_view> /*blobs*/) const {
    return std::shared_ptr<const Device>();
  }
  /// Whether what contexts keep between steps is to lie in SharedMemory.
  virtual bool shares_memory() const { return false; }
  /// Whether make() takes no noticeable time: a build then makes each segment once, so that a blob that it cannot read is an error there.
  virtual bool makes_quickly() const { return false; }
  /// Errors: those of a blob that is no such thing.
  virtual Result<std::unique_ptr<Segment>> make(const BlobView& blob) const = 0;
};
using Devices = std::vector<std::shared_ptr<const Device>>;

/// `DEVICE(name) { return std::make_shared<...>(); }` in src/backends/NAME/device/NAME.cpp, namespace tenon::backends; `libraries` says
/// where the library is that it needs. The folder listing is the registration.
#define DEVICE(IDENT)                                                                                 \
  std::shared_ptr<const ::tenon::runtime::Device> device_##IDENT(const ::tenon::runtime::Libraries&); \
  std::shared_ptr<const ::tenon::runtime::Device> device_##IDENT([[maybe_unused]] const ::tenon::runtime::Libraries& libraries)

}  // namespace tenon::runtime
