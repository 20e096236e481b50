// SPDX-License-Identifier: Apache-2.0
/// Tenon compiles neural networks: an ONNX model becomes an engine, an engine runs.
///
/// Link `tenon::tenon` to compile and run; link `tenon::run` to load and run alone (no compiler inside, well under a megabyte).
/// Nothing here throws: what can go wrong comes back as an Error.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/compile_options.h"
#include "tenon/types.h"

namespace tenon::inline v1 {

/// Every part but `what` may be empty.
struct Error {
  Code code = Code::internal;
  std::string place;  ///< node, value, file and offset, or operator
  std::string what;
  std::string expected;
  std::string found;
  std::string advice;
  /// All of it, in a few lines.
  TENON_API std::string text() const;
};
template <class T = void>
using Result = std::expected<T, Error>;

template <class T>
inline constexpr DType dtype_of = DType::none;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<int16_t> = DType::i16;
template <>
inline constexpr DType dtype_of<int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<uint8_t> = DType::u8;
template <>
inline constexpr DType dtype_of<uint16_t> = DType::u16;
template <>
inline constexpr DType dtype_of<uint32_t> = DType::u32;
template <>
inline constexpr DType dtype_of<uint64_t> = DType::u64;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of<std::string> = DType::string;

/// A dense, row-major tensor in memory of the caller's or the library's; or a sequence of such, an optional, a map, or a sequence of maps.
/// Copying it copies no elements.
class Array {
 public:
  Array() = default;
  /// Reads `bytes` bytes at `data` where they lie (string: elements are std::string). They must live as long as the array, or `keeper`
  /// keeps them.
  Array(DType dtype, std::vector<int64_t> shape, const void* data, size_t bytes, std::shared_ptr<const void> keeper = nullptr)
      : dtype_(dtype), shape_(std::move(shape)), data_(data), bytes_(bytes), keeper_(std::move(keeper)) {}
  /// The elements of a container, where they lie: Array({2, 3}, numbers).
  template <class C>
    requires requires(const C& c) {
      dtype_of<typename C::value_type>;
      c.data();
      c.size();
    }
  Array(std::vector<int64_t> shape, const C& elements)
      : Array(dtype_of<typename C::value_type>, std::move(shape), elements.data(), elements.size() * sizeof(typename C::value_type)) {}

  static Array sequence(std::vector<Array> elements) { return Array(ValueKind::sequence, std::move(elements)); }
  /// element: a tensor or a sequence.
  static Array optional(Array element) {
    const bool of_sequence = element.kind() == ValueKind::sequence;
    std::vector<Array> elements;
    elements.push_back(std::move(element));
    return Array(of_sequence ? ValueKind::optional_sequence : ValueKind::optional, std::move(elements));
  }
  /// Without an element, of either kind.
  static Array optional() { return Array(ValueKind::optional, {}); }

  /// keys: i64[n] or string[n]; values: [n].
  static Array map(Array keys, Array values) { return Array(ValueKind::map, {std::move(keys), std::move(values)}); }

  ValueKind kind() const { return kind_; }
  /// Of a sequence; of an optional its element, or nothing; of a map its keys and its values.
  const std::vector<Array>& elements() const { return elements_ ? *elements_ : none(); }
  /// Of a tensor, as all that follows.
  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  const void* data() const { return data_; }
  size_t byte_size() const { return bytes_; }
  const std::shared_ptr<const void>& keeper() const { return keeper_; }
  /// T must be the type of dtype(), or one of its size for those that C++ does not have.
  template <class T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  Array(ValueKind kind, std::vector<Array> elements)
      : elements_(std::make_shared<const std::vector<Array>>(std::move(elements))), kind_(kind) {}
  static const std::vector<Array>& none() {
    static const std::vector<Array> empty;
    return empty;
  }

  DType dtype_ = DType::none;
  std::vector<int64_t> shape_;
  const void* data_ = nullptr;
  size_t bytes_ = 0;
  std::shared_ptr<const void> keeper_;
  std::shared_ptr<const std::vector<Array>> elements_;
  ValueKind kind_ = ValueKind::tensor;
};
using Arrays = std::map<std::string, Array>;

/// An input or output. A dimension is a number or what the model calls it ("batch", "2*seq"), within its bounds. Of a sequence or an
/// optional, dtype and dimensions are those of each tensor in it ("?": any size; the one dimension "*": any shape); of maps dtype is that
/// of the values.
struct Port {
  std::string name;
  DType dtype = DType::none;
  std::vector<std::string> dimensions;
  std::vector<int64_t> lower, upper;
  ValueKind kind = ValueKind::tensor;
  DType key = DType::none;   ///< of maps: i64 or string
  bool has_default = false;  ///< an input that may be left out: then it has the value that the model gives it
};

/// What a caller can run: engines of several entries share weights and states among them (prefill and decode of a language model).
struct Entry {
  std::string name;
  std::vector<Port> inputs, outputs;
};

/// A value that lasts between the runs of a context, which all entries read and replace; no input and no output.
struct StateInfo {
  std::string name;
  DType dtype = DType::none;
  std::vector<int64_t> shape;  ///< on the growing axis the capacity; -1: fixed by a context's first run of the state, or by bound memory
  /// The axis along which runs append: its size is the state's length, 0 at first. None: the state is replaced as a whole.
  std::optional<size_t> growing_axis = {};
  std::string type = {};  ///< as the model spells it: "f32[batch,8,..4096,64]"
};

/// Requests that runs end early; copies are the same token. stop() may be called from any thread.
class StopToken {
 public:
  TENON_API StopToken();
  TENON_API void stop();
  TENON_API void reset();

 private:
  friend class Context;
  std::shared_ptr<void> state_;
};

struct ThreadPoolOptions {
  std::optional<int> threads = {};  ///< the calling one among them; none: one for each of `cpus`, or for each that this process may use
  std::vector<int> cpus = {};       ///< their numbers; empty: the system chooses, and may move threads
};

/// Threads that compute runs, for those who share the cores out on purpose. Runs on different thread pools go side by side; on one thread
/// pool they are queued in the order of their calls. Copies are the same thread pool. Its threads end with the last copy and the last
/// run. Results do not depend on the thread pool.
class ThreadPool {
 public:
  /// The process's own: one thread for each CPU that it may use. Nobody waits for it: while one run's step has it, steps of other runs
  /// compute on their calling threads alone.
  ThreadPool() = default;
  /// Errors: bad_usage (no thread or over 1024, CPUs that are not there or that this process may not use); not_supported, where the system
  /// lets nobody choose CPUs. Cost: the threads start in the first run.
  TENON_API static Result<ThreadPool> create(const ThreadPoolOptions& options = {});
  TENON_API int threads() const;
  TENON_API std::vector<int> cpus() const;  ///< ascending; empty: not chosen

 private:
  friend class Engine;
  friend class Context;
  std::shared_ptr<void> state_;  ///< none: the process's own
};

/// One step of a run, for profiles.
struct StepTime {
  std::string_view label;    ///< the ops that it computes; valid during the call
  std::string_view backend;  ///< who runs it: "cpu", or the backend of its segment; valid during the call
  std::chrono::steady_clock::time_point begin, end;
};

struct RunOptions {
  int threads = 0;                  ///< at most so many; 0: all that the thread pool has. Negative: bad_usage
  const StopToken* stop = nullptr;  ///< looked at about every 50 us, about every ms while the run is queued
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// For finding errors: buffers are between canaries, bytes that are checked after each step, and hold NaN until they are written. A write
  /// outside is an error (internal) that names step and buffer. Costs memory and time.
  bool check_memory = false;
  /// Of the numbers that random nodes draw: equal seeds give equal results, with any number of threads. None: each run draws others.
  std::optional<uint64_t> seed = {};
  /// Where it has CPUs, the calling thread is kept to them for the time of the run.
  ThreadPool thread_pool = {};
  /// What to run; empty: the engine's first entry. Errors of the run: bad_usage, naming the nearest.
  std::string entry = {};
  /// Called on the calling thread after each step; bodies of branches and loops count as one. None costs nothing.
  std::function<void(const StepTime&)> on_step = {};
};

/// Memory of the caller's that receives a result, or holds a state: dense, row-major.
struct OutputBuffer {
  DType dtype = DType::none;
  std::vector<int64_t> shape = {};  ///< that of the result or the state
  void* data = nullptr;
  size_t bytes = 0;  ///< those of dtype and shape
};
using OutputBuffers = std::map<std::string, OutputBuffer>;

struct LoadOptions {
  bool verify = false;  ///< check every byte of the file, weights and padding included
  BackendLibraries libraries = {};
  std::vector<std::filesystem::path> plugins = {};  ///< libraries of plugins (tenon/plugin.h), which stay open until the process ends
  bool plugin_any_build = false;                    ///< take other builds of them than the engine was built with
  bool embedded_plugins = false;                    ///< take the libraries inside the engine file, which are code of whoever made it
  /// Isolated: libraries of plugins run in processes of their own (the program tenon-plugin-worker), so that one that crashes or hangs is
  /// an error of that run. timeout: of one call; memory: bytes that a library's process may take, 0 for no limit.
  bool isolate_plugins = false;
  std::chrono::milliseconds plugin_timeout{300'000};
  uint64_t plugin_memory = 0;
};

/// How large an engine is.
struct EngineSizes {
  uint64_t weight_bytes = 0, code_bytes = 0;
  size_t steps = 0;  ///< of its program: kernels, and what runs without one
};

/// A compiled model: immutable. Copies are the same engine, and any number of threads may use it at once.
class Engine {
 public:
  /// Maps an engine file. Weights are read as they are used. A portable engine is compiled now (tenon::tenon alone can do that).
  /// Errors: file_missing, bad_file, wrong_target, not_supported.
  TENON_API static Result<Engine> load(const std::filesystem::path& path, const LoadOptions& options = {});

  /// Writes the engine file, atomically. Engines that came from a file are copied as files instead (bad_usage).
  /// `portable`: leaves native code out; such a file runs on any CPU and is compiled when it is loaded.
  TENON_API Result<void> save(const std::filesystem::path& path, bool portable = false) const;

  /// The first is what runs where none is named.
  TENON_API std::span<const Entry> entries() const;
  /// The number of the entry of that name; empty: the first. Errors: bad_usage, naming the nearest.
  TENON_API Result<size_t> entry(std::string_view name) const;
  /// Those of the first entry.
  TENON_API std::span<const Port> inputs() const;
  TENON_API std::span<const Port> outputs() const;
  TENON_API std::span<const StateInfo> states() const;
  TENON_API EngineSizes sizes() const;
  /// The plugins that are not there, in words, so that definitions run in their place (CompileOptions::plugin_fallback); empty: none.
  TENON_API const std::string& missing_plugins() const;

  /// inputs: in the engine's order, those with a default last; an empty Array, or none at the end, takes the default.
  /// Results own their memory. States are at their initial values in every run; a Context keeps them.
  /// Errors: bad_input, out_of_memory, cancelled, deadline. Cost: one allocation a result; a Context of one's own has none.
  TENON_API Result<std::vector<Array>> run(std::span<const Array> inputs, const RunOptions& options = {}) const;
  /// By name.
  TENON_API Result<Arrays> run(const Arrays& inputs, const RunOptions& options = {}) const;
  /// The same, with the named results written into memory of the caller's; their arrays refer to it. It is written only after all inputs
  /// were checked, and its contents are undefined where the run fails. Errors: also bad_input (no such output, no tensor of numbers,
  /// another type or shape than the result, which is found after the run where the shape depends on data); bad_usage (memory that overlaps
  /// an input or another buffer).
  TENON_API Result<Arrays> run(const Arrays& inputs, const OutputBuffers& outputs, const RunOptions& options = {}) const;

  /// The engine file as bytes: of an engine that was compiled what save() writes, of a loaded one its file. Errors: those of save().
  /// Cost: a copy of the file in memory, and of compiled engines a temporary file.
  TENON_API Result<std::vector<std::byte>> bytes() const;
  /// An engine of such bytes; they are written to a temporary file, which is mapped. Errors: those of load().
  TENON_API static Result<Engine> from_bytes(std::span<const std::byte> bytes, const LoadOptions& options = {});
  /// The libraries and plugins that the engine was made with, for from_bytes().
  TENON_API const LoadOptions& load_options() const;

  struct State;
  explicit Engine(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  friend class Context;
  std::shared_ptr<State> state_;
};

/// Reads an ONNX model and compiles it for this CPU. The engine keeps the model's file mapped, so that it can be saved.
/// Errors: what is wrong with the model, file_missing, not_supported. Not in tenon::run.
TENON_API Result<Engine> compile(const std::filesystem::path& model, const CompileOptions& options = {});
/// The same of a model's bytes. keeper: keeps them, and weights are read where they lie; none: weights are copied. External data needs
/// options.external_data. The engine is the same, to the byte, as that of a file with these bytes.
TENON_API Result<Engine> compile(std::span<const std::byte> model, const CompileOptions& options = {},
                                 std::shared_ptr<const void> keeper = nullptr);

/// One thread's running instance of an engine, for callers with the strictest latency: once warm, run() allocates nothing but the list
/// of inputs and results.
class Context {
 public:
  TENON_API static Result<Context> create(const Engine& engine);
  TENON_API Context(Context&&) noexcept;
  TENON_API Context& operator=(Context&&) noexcept;
  TENON_API ~Context();

  /// inputs: in the engine's order, read where they lie. Results lie in the context until its next run, or where they were bound.
  TENON_API Result<std::span<const Array>> run(std::span<const Array> inputs, const RunOptions& options = {});
  /// The same of the entry of that name, in place of options.entry.
  TENON_API Result<std::span<const Array>> run(std::string_view entry, std::span<const Array> inputs, const RunOptions& options = {});
  /// By name. Results own their memory, or are written into memory of the caller's, as those of Engine::run.
  TENON_API Result<Arrays> run(const Arrays& inputs, const OutputBuffers& outputs = {}, const RunOptions& options = {});
  /// From the next run on result `index` of the entry (empty: the first) is written there; nullptr: into the context again.
  /// Errors: index_out_of_range; bad_usage, naming the nearest entry.
  TENON_API Result<void> bind_output(size_t index, void* memory, size_t bytes, std::string_view entry = {});

  // States. They begin at their initial values (those that grow: empty) in memory of the context; runs that succeed replace them. A run
  // that fails leaves a state as it was, but for one that it was writing in place: runs refuse that (bad_input) until it is reset, restored
  // or bound. All functions that take a name: bad_usage where there is no such state, naming the nearest.
  //
  /// Keeps the state in memory of the caller's, of its type and whole capacity, until it is unbound or the context ends; what is in it is
  /// the state's value. length: of a growing state. Errors: bad_input (another type or size, elements that are not aligned, a length over
  /// the capacity); bad_usage (bound already, or memory that another state has).
  TENON_API Result<void> bind_state(std::string_view name, const OutputBuffer& memory, int64_t length = 0);
  /// Into the context again, at its initial value.
  TENON_API Result<void> unbind_state(std::string_view name);
  /// To the initial values: all states, or one.
  TENON_API void reset();
  TENON_API Result<void> reset(std::string_view name);
  /// How much of a growing state there is. Errors: bad_usage for one that does not grow.
  TENON_API Result<int64_t> length(std::string_view name) const;
  /// Makes a growing state shorter, to take appended rows back. Errors: bad_input (longer than it is), bad_usage.
  TENON_API Result<void> set_length(std::string_view name, int64_t length);
  /// A copy of what the state holds. Errors: out_of_memory; bad_input where a failed run has left part of a new value.
  TENON_API Result<Array> state(std::string_view name) const;
  /// A context of the same engine whose states have the same values, in memory of its own. Outputs are bound anew. Errors: as state().
  TENON_API Result<Context> fork() const;
  /// Writes all states to a file, atomically, or gives its bytes. Errors: as state(); write_failed.
  TENON_API Result<void> save(const std::filesystem::path& path) const;
  TENON_API Result<std::vector<std::byte>> bytes() const;
  /// Sets all states to what was saved. Changes nothing where it fails. Errors: file_missing; bad_file (damaged, or no states); bad_input
  /// (of another engine); out_of_memory.
  TENON_API Result<void> restore(const std::filesystem::path& path);
  TENON_API Result<void> restore(std::span<const std::byte> bytes);
  /// Bytes of intermediate values in the last run.
  TENON_API uint64_t arena_bytes() const;

 private:
  struct State;
  explicit Context(std::unique_ptr<State> state);
  friend class Engine;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::inline v1
