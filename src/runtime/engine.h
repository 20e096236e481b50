// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/program.h"
#include "runtime/run_options.h"

namespace tenon::runtime {

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

/// What an engine is made of, from a file or straight from the compiler.
struct EngineParts {
  Program program;
  std::vector<std::byte> code;
  std::vector<uint64_t> entries;       ///< where each kernel starts in `code`
  std::span<const std::byte> weights;  ///< program.weight_bytes, then kSlack readable bytes
  std::shared_ptr<const void> keeper;  ///< of the weights
  std::string manifest;                ///< JSON: compiler version, target, options
  std::string missing = {};            ///< as Engine::missing
};

/// As Engine::missing tells of an error for which another form of the model runs.
std::string missing_text(const Error& error);

/// A compiled model: immutable, shared between threads. Each thread runs it through a Context of its own.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  /// devices: run what is no kernel; others than the program names are not kept. Errors: not_supported for one that is missing;
  /// what Device::open says.
  static Result<std::shared_ptr<Engine>> create(EngineParts parts, const Devices& devices = {});

  const Program& program() const { return parts_.program; }
  /// The one that runs these inputs: where a default is overridden, the overridable one; where a size is outside of an interval that the
  /// engine was built for, the one behind.
  const Program& program_for(std::span<const Tensor> inputs) const;
  const std::string& manifest() const { return parts_.manifest; }
  /// Those that every run gives, then those with a default.
  std::span<const PortInfo> inputs() const;
  size_t required_inputs() const { return parts_.program.inputs.size(); }
  /// Whether the inputs, in that order, give one that has a default.
  bool overrides_default(std::span<const Tensor> inputs) const;
  /// The defaults, one an input behind the required ones: views of the engine's memory.
  std::vector<Tensor> defaults() const;
  std::span<const PortInfo> outputs() const { return parts_.program.outputs; }
  KernelFunction kernel(uint32_t entry) const {
    return reinterpret_cast<KernelFunction>(reinterpret_cast<uintptr_t>(code_.base()) + parts_.entries[entry]);
  }
  const std::byte* weights() const { return parts_.weights.data(); }
  /// Those that its segments run on.
  const Devices& devices() const { return devices_; }
  /// weights: in the engine's memory; threads: that runs may take.
  Result<std::unique_ptr<Segment>> make_segment(const Blob& blob, std::span<const Tensor> weights, int threads) const;
  size_t code_bytes() const { return code_.size(); }
  /// What is not there of what the model was built for, in words, so that another form of it runs; empty: nothing.
  const std::string& missing() const { return parts_.missing; }

 private:
  explicit Engine(EngineParts parts) : parts_(std::move(parts)) {}
  Result<void> find_devices(const Devices& from);
  EngineParts parts_;
  CodeMapping code_;
  Devices devices_;
};

/// One thread's running instance. run() allocates nothing once it has seen a shape (but for steps whose sizes depend on data).
class Context {
 public:
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<const Engine> engine);
  ~Context();

  /// inputs: in the engine's order; an empty handle, or none at the end, takes the default of an input that has one. Their memory is read,
  /// never copied. Random nodes draw from `options.seed`, without one new numbers each run. Results are valid until the next run; they lie
  /// in memory of the context unless bound. Errors: bad_input, out_of_memory, cancelled, deadline, what a device says.
  Result<std::span<const Tensor>> run(std::span<const Tensor> inputs, const RunOptions& options = {});
  /// Result `index` is written to that memory from the next run on; it must hold `bytes` when it runs (else bad_input). nullptr: unbind.
  void bind_output(size_t index, void* memory, size_t bytes);
  /// Bytes of the arenas for the sizes last run; 0 before.
  uint64_t arena_bytes() const;
  /// The size table of the program that ran last, as that run left it; all zeros before.
  std::span<const int64_t> sizes() const;
  /// What a run of these input shapes will need beside weights, results and what depends on data; of packed rows the most.
  Result<PlannedBytes> planned_bytes(std::span<const Sizes> input_shapes) const;

 private:
  struct State;
  explicit Context(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tenon::runtime
