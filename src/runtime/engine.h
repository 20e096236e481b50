// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "runtime/code_section.h"
#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/program_table.h"
#include "runtime/run_options.h"

namespace tenon::runtime {

/// The contents of an engine, read from a file or made by the compiler.
struct EngineParts {
  ProgramTable programs;
  CodeSection code;                        ///< of one target, which this CPU can run
  std::span<const std::byte> weights;      ///< programs.weight_bytes, then kSlack readable bytes
  std::shared_ptr<const void> keeper;      ///< owns the memory of the weights
  std::string manifest;                    ///< JSON: compiler version, target, options
  std::string missing_plugins = {};        ///< as Engine::missing_plugins
  std::shared_ptr<RunMemory> memory = {};  ///< for values and scratch of its runs; null: host memory
};

/// A model of the engine, which callers run by its name.
struct Entry {
  std::string name;
  uint32_t program = 0;  ///< number in the table: the entry's own, or its fallback where plugins are missing
  std::optional<uint32_t> unbounded_program = {},
                          overridable_program = {};  ///< its fallbacks for sizes out of range and overridden defaults
};

/// The text of Engine::missing_plugins for an error because of which plugin-free programs run.
std::string missing_plugins_text(const Error& error);

/// A compiled model: immutable, shared between threads. Each thread runs it through a Context of its own.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  /// devices: run the segments; those that the engine does not need are dropped. Errors: not_supported for one that is missing;
  /// errors of Device::open.
  static Result<std::shared_ptr<Engine>> create(EngineParts parts, const Devices& devices = {});

  /// All programs, those that no run uses included.
  const ProgramTable& programs() const { return parts_.programs; }
  /// Values that last between the runs of a context; all entries share them. `state` arguments are indices into it.
  std::span<const StateInfo> states() const { return parts_.programs.states; }
  /// The state of that name. Errors: bad_usage, naming the nearest.
  Result<size_t> state(std::string_view name) const;
  /// The entries, in the order of the table. `entry` arguments below are indices into it.
  std::span<const Entry> entries() const { return entries_; }
  /// The entry of that name. Errors: bad_usage, naming the nearest.
  Result<size_t> entry(std::string_view name) const;
  /// The program of an entry.
  const Program& program(size_t entry = 0) const { return programs()[entries_[entry].program]; }
  /// The number of the program that runs these inputs: of the entry, or of its fallback where a default is overridden, or a size is out of
  /// the range that the engine was built for.
  uint32_t number_for(std::span<const Tensor> inputs, size_t entry = 0) const;
  const Program& program_for(std::span<const Tensor> inputs, size_t entry = 0) const { return programs()[number_for(inputs, entry)]; }
  const std::string& manifest() const { return parts_.manifest; }
  /// The required inputs, then those with a default.
  std::span<const PortInfo> inputs(size_t entry = 0) const {
    return programs()[entries_[entry].overridable_program.value_or(entries_[entry].program)].inputs;
  }
  size_t required_inputs(size_t entry = 0) const { return program(entry).inputs.size(); }
  /// Whether the inputs, in that order, have a value for an input with a default.
  bool overrides_default(std::span<const Tensor> inputs, size_t entry = 0) const;
  /// The default values of the inputs after the required ones: views of the engine's memory.
  std::vector<Tensor> defaults(size_t entry = 0) const;
  std::span<const PortInfo> outputs(size_t entry = 0) const { return program(entry).outputs; }
  /// The kernel of that number (KernelStep::kernel).
  KernelFunction kernel(uint32_t number) const {
    return reinterpret_cast<KernelFunction>(reinterpret_cast<uintptr_t>(code_.base()) + parts_.code.kernel_offsets[number]);
  }
  const std::byte* weights() const { return parts_.weights.data(); }
  /// The devices of its segments.
  const Devices& devices() const { return devices_; }
  /// weights: in the engine's memory; threads: that runs may take.
  Result<std::unique_ptr<Segment>> make_segment(const Blob& blob, std::span<const Tensor> weights, int threads) const;
  size_t code_bytes() const { return code_.size(); }
  /// As EngineParts::memory.
  RunMemory* memory() const { return parts_.memory.get(); }
  /// Text that names the missing plugins because of which plugin-free programs run; empty: none is missing.
  const std::string& missing_plugins() const { return parts_.missing_plugins; }

 private:
  explicit Engine(EngineParts parts) : parts_(std::move(parts)) {}
  Result<void> find_devices(const Devices& from);
  void set_entries(bool plugin_free);
  EngineParts parts_;
  std::vector<Entry> entries_;
  CodeMapping code_;
  Devices devices_;
};

/// An engine's running instance for one thread. run() allocates nothing once it has seen a shape (but for steps whose sizes depend on
/// data).
class Context {
 public:
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<const Engine> engine);
  ~Context();

  /// entry: in Engine::entries(). inputs: in its order; an empty handle, or none at the end, takes the default of an input that has one.
  /// Their memory is read, never copied. Random nodes draw from `options.seed`, without one new numbers each run. Results are valid until
  /// the next run; they are in memory of the context unless bound. Errors: bad_input, out_of_memory, cancelled, deadline, errors of
  /// devices.
  Result<std::span<const Tensor>> run(std::span<const Tensor> inputs, const RunOptions& options = {}, size_t entry = 0);
  /// Result `index` is written to that memory from the next run of that entry on; it must hold `bytes` when it runs (else bad_input).
  /// nullptr: unbind.
  void bind_output(size_t index, void* memory, size_t bytes, size_t entry = 0);
  /// States. Each begins at its initial value (of a growing one: no rows) in memory of the context, made on first use, and is replaced by
  /// runs that succeed. A run that fails leaves a state as it was, but for one that it was writing in place: runs refuse that (bad_input)
  /// until it is reset, restored or bound again.
  ///
  /// Makes the state use memory of the caller, of its type and capacity, whose contents become its value. The memory outlives the context,
  /// or the tensor owns it. An empty handle: the state uses memory of the context again, at its initial value. length: of a growing state.
  /// Errors: bad_input (another type, elements that are not aligned, a length over the capacity); bad_usage (bound already; memory that
  /// another state has).
  Result<void> bind_state(size_t state, const Tensor& memory, int64_t length = 0);
  /// To the initial value: all, or one.
  void reset();
  void reset(size_t state);
  /// Of a growing state; 0 for others.
  int64_t length(size_t state) const;
  /// Makes a growing state shorter. Errors: bad_input (longer than it is), bad_usage (it does not grow).
  Result<void> set_length(size_t state, int64_t length);
  /// A copy of what the state holds. Errors: out_of_memory; bad_input where a failed run has left part of a new value.
  Result<Tensor> state_value(size_t state) const;
  /// A context of the same engine whose states have the same values, in memory of its own. Outputs are bound anew. Errors: as state_value.
  Result<std::unique_ptr<Context>> fork() const;
  /// All states in one string: names, types, lengths, values, a checksum, and which engine they are of. Errors: as state_value.
  Result<std::string> save_states() const;
  /// Restores what save_states() returned; changes nothing where it fails. Errors: bad_file (damaged, or no states); bad_input (of another
  /// engine); out_of_memory.
  Result<void> restore_states(std::string_view bytes);
  /// Bytes of the arenas for the sizes last run; 0 before.
  uint64_t arena_bytes() const;
  /// The size table of the program that ran last, as that run left it; all zeros before.
  std::span<const int64_t> sizes() const;
  /// How many times runs laid out memory. Each program keeps its layouts for the last eight tuples of shapes.
  uint64_t plans_made() const;
  /// What a run of these input shapes will need, not counting weights, results and what depends on data; of packed rows the most.
  Result<PlannedBytes> planned_bytes(std::span<const Sizes> input_shapes, size_t entry = 0) const;

 private:
  struct State;
  explicit Context(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tenon::runtime
