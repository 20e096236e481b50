// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/threads.h"
#include "runtime/engine.h"

namespace tenon::runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// Anonymous memory that only grows; 4 KiB aligned, zeroed when fresh.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { release(); }
  Result<std::byte*> reserve(uint64_t bytes) {
    if (bytes <= size_) return data_;
    release();
    const uint64_t size = (bytes + 4095) / 4096 * 4096;
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return fail(Code::out_of_memory, "", fmt::format("no memory for {} bytes of intermediate values", bytes))
          .advice("give smaller inputs");
    data_ = static_cast<std::byte*>(memory);
    size_ = size;
    return data_;
  }
  std::byte* data() const { return data_; }

 private:
  void release() {
    if (data_) munmap(data_, size_);
    data_ = nullptr;
    size_ = 0;
  }
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

std::string shape_text(const Sizes& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

}  // namespace

struct Context::State {
  std::shared_ptr<const Engine> engine;
  std::vector<std::vector<int64_t>> shapes;  // of the inputs, as last run
  std::vector<int64_t> sizes;
  Layout layout;
  bool planned = false;
  Block arena, scratch;
  uint64_t scratch_stride = 0;
  std::vector<void*> pointers;                    // one a buffer
  std::vector<Tensor> dynamic;                    // results of opaque steps, by buffer
  std::vector<std::pair<uint32_t, Tensor>> late;  // memory of arena buffers that are sized late
  std::vector<std::unique_ptr<OpaqueOp>> opaque;  // by text
  std::vector<Tensor> results;
  std::vector<std::pair<void*, size_t>> bound;
  std::vector<Block> result_blocks;
  std::vector<void*> arguments;
  std::vector<int64_t> kernel_sizes;
  std::byte nothing[kSlack * 4] = {};  // what an empty tensor points at

  const Program& program() const { return engine->program(); }
  Result<void> check(std::span<const Tensor> inputs) const;
  Result<void> check_shape(size_t k, const Tensor& input) const;
  Result<void> check_elements(size_t k, const Tensor& input) const;
  Result<void> prepare(std::span<const Tensor> inputs, int threads);
  Result<void> place_results();
  Result<void> place_late(uint32_t from, uint32_t to);
  Result<void> keep_result(uint32_t buffer, const Tensor& t);
  Sizes shape_of(uint32_t buffer) const;
  Tensor tensor_of(uint32_t buffer) const;
  Result<void> run_kernel(const Step& step, const RunOptions& options, int threads);
  Result<void> run_opaque(const Step& step);
  Result<void> own(Tensor& result, const Step& step, const std::vector<Tensor>& operands) const;
  void write_sizes(const Step& step);
};

namespace {

std::string port_place(const char* what, const PortInfo& port) { return fmt::format("{} '{}'", what, port.name); }

std::string port_type(const PortInfo& port) { return fmt::format("{}[{}]", name_of(port.dtype), fmt::join(port.dimensions, ",")); }

}  // namespace

Result<void> Context::State::check(std::span<const Tensor> inputs) const {
  const auto& ports = program().inputs;
  if (inputs.size() != ports.size())
    return fail(Code::bad_input, "run", "wrong number of inputs")
        .expected(std::to_string(ports.size()))
        .found(std::to_string(inputs.size()));
  for (size_t k = 0; k < ports.size(); ++k) {
    const Tensor& t = inputs[k];
    if (t.dtype() != ports[k].dtype)
      return fail(Code::bad_input, port_place("input", ports[k]), "wrong dtype")
          .expected(port_type(ports[k]))
          .found(type_text(t.dtype(), t.shape()))
          .advice("convert the array before the call");
    if (t.shape().size() != ports[k].shape.size())
      return fail(Code::bad_input, port_place("input", ports[k]), "wrong rank")
          .expected(port_type(ports[k]))
          .found(type_text(t.dtype(), t.shape()));
    for (size_t d = 0; d < t.shape().size(); ++d)
      if (t.shape()[d] < ports[k].lower[d] || t.shape()[d] > ports[k].upper[d])
        return fail(Code::bad_input, port_place("input", ports[k]), fmt::format("dimension {} is out of its range", d))
            .expected(fmt::format("{} between {} and {}", ports[k].dimensions[d], ports[k].lower[d], ports[k].upper[d]))
            .found(shape_text(t.shape()));
  }
  return {};
}

/// After the sizes are known: each dimension must be what its line says.
Result<void> Context::State::check_shape(size_t k, const Tensor& input) const {
  const PortInfo& port = program().inputs[k];
  for (size_t d = 0; d < port.shape.size(); ++d) {
    if (port.shape[d] >= program().door_lines || sizes[port.shape[d]] == input.shape()[d]) continue;
    return fail(Code::bad_input, port_place("input", port), fmt::format("dimension {} does not fit the other inputs", d))
        .expected(fmt::format("{} = {}", port.dimensions[d], sizes[port.shape[d]]))
        .found(shape_text(input.shape()))
        .advice("every dimension of one name must have one size");
  }
  return {};
}

/// Token numbers and the like: an index outside its table is an error, not a wrong row.
Result<void> Context::State::check_elements(size_t k, const Tensor& input) const {
  const PortInfo& port = program().inputs[k];
  for (const ElementLimit& limit : port.limits) {
    if (limit.extent >= program().door_lines) continue;
    const int64_t extent = sizes[limit.extent], lowest = limit.from_end ? -extent : 0;
    auto check = [&](auto values) -> Result<void> {
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i] < lowest || values[i] >= extent)
          return fail(Code::index_out_of_range, port_place("input", port),
                      fmt::format("element {} is outside the table that it points into", i))
              .expected(fmt::format("{} .. {}", lowest, extent - 1))
              .found(std::to_string(values[i]))
              .advice("check the tokenizer's vocabulary against the model's");
      return {};
    };
    if (input.dtype() == DType::i64) TRY(check(input.as<int64_t>()));
    if (input.dtype() == DType::i32) TRY(check(input.as<int32_t>()));
  }
  return {};
}

Result<void> Context::State::prepare(std::span<const Tensor> inputs, int threads) {
  bool same = planned;
  for (size_t k = 0; same && k < inputs.size(); ++k) same = shapes[k] == inputs[k].shape();
  if (!same) {
    planned = false;
    for (size_t k = 0; k < inputs.size(); ++k) shapes[k] = inputs[k].shape();
    TRY(evaluate_sizes(program(), 0, program().door_lines, shapes, sizes));
    for (size_t k = 0; k < inputs.size(); ++k) TRY(check_shape(k, inputs[k]));
    layout = TRY(lay_out(program(), sizes));
    planned = true;
  }
  for (size_t k = 0; k < inputs.size(); ++k) TRY(check_elements(k, inputs[k]));
  std::byte* base = TRY(arena.reserve(layout.bytes));
  TRY(scratch.reserve(scratch_stride * static_cast<uint64_t>(threads)));
  for (uint32_t b = 0; b < program().buffers.size(); ++b) {
    const BufferInfo& info = program().buffers[b];
    if (info.kind == BufferInfo::Kind::arena && !sized_late(program(), info)) pointers[b] = base + layout.offsets[b];
    if (info.kind == BufferInfo::Kind::weight) pointers[b] = const_cast<std::byte*>(engine->weights()) + info.offset;
    if (info.kind != BufferInfo::Kind::input) continue;
    const Tensor& t = inputs[info.index];
    pointers[b] = t.count() > 0 ? const_cast<std::byte*>(t.data()) : const_cast<std::byte*>(nothing);
    dynamic[b] = t;
  }
  return {};
}

Sizes Context::State::shape_of(uint32_t buffer) const {
  Sizes shape;
  for (Slot s : program().buffers[buffer].shape) shape.push_back(sizes[s]);
  return shape;
}

/// A result that a kernel writes: bound memory, or the context's own.
Result<void> Context::State::place_results() {
  for (size_t k = 0; k < results.size(); ++k) {
    const PortInfo& port = program().outputs[k];
    const BufferInfo& info = program().buffers[port.buffer];
    if (info.kind != BufferInfo::Kind::output) continue;
    const Sizes shape = shape_of(port.buffer);
    const auto count = checked_count(shape);
    if (!count) return fail(Code::size_overflow, port_place("output", port), "the result is too large");
    const size_t bytes = static_cast<size_t>(bytes_of(info.dtype, *count));
    if (bound[k].first != nullptr) {
      if (bound[k].second < bytes)
        return fail(Code::bad_input, port_place("output", port), "the bound memory is too small")
            .expected(fmt::format("{} bytes", bytes))
            .found(fmt::format("{} bytes", bound[k].second));
      pointers[port.buffer] = bound[k].first;
    } else {
      pointers[port.buffer] = TRY(result_blocks[k].reserve(bytes + kSlack));
    }
    if (results[k].data() != pointers[port.buffer] || results[k].shape() != shape)
      results[k] = Tensor::view(info.dtype, shape, pointers[port.buffer], nullptr);
  }
  return {};
}

/// Memory for the arena buffers whose shapes lines [from, to) have settled.
Result<void> Context::State::place_late(uint32_t from, uint32_t to) {
  for (auto& [b, memory] : late) {
    const std::vector<Slot>& shape = program().buffers[b].shape;
    const Slot last = *std::max_element(shape.begin(), shape.end());
    if (last < from || last >= to) continue;
    const auto count = checked_count(shape_of(b));
    if (!count || *count > (int64_t{1} << 45))
      return fail(Code::size_overflow, program().buffers[b].name, "an intermediate value is too large");
    const int64_t bytes = bytes_of(program().buffers[b].dtype, *count) + static_cast<int64_t>(kSlack);
    if (memory.empty_handle() || memory.count() < bytes) memory = TRY(Tensor::make(DType::u8, {bytes}));
    pointers[b] = memory.mutable_data();
  }
  return {};
}

/// Where an opaque step has made a result of the program: the tensor itself, or a copy in the memory bound for it.
Result<void> Context::State::keep_result(uint32_t buffer, const Tensor& t) {
  for (size_t r = 0; r < results.size(); ++r) {
    const PortInfo& port = program().outputs[r];
    if (port.buffer != buffer) continue;
    results[r] = t;
    if (bound[r].first == nullptr || t.dtype() == DType::string) continue;
    const auto bytes = static_cast<size_t>(t.byte_size());
    if (bound[r].second < bytes)
      return fail(Code::bad_input, port_place("output", port), "the bound memory is too small")
          .expected(fmt::format("{} bytes", bytes))
          .found(fmt::format("{} bytes", bound[r].second));
    if (bytes > 0) std::memcpy(bound[r].first, t.data(), bytes);
    results[r] = Tensor::view(t.dtype(), t.shape(), bound[r].first, nullptr);
  }
  return {};
}

Tensor Context::State::tensor_of(uint32_t buffer) const {
  const BufferInfo& info = program().buffers[buffer];
  if (info.kind == BufferInfo::Kind::alias) return tensor_of(info.index).reshaped(shape_of(buffer));
  if (info.kind == BufferInfo::Kind::input || info.kind == BufferInfo::Kind::dynamic) return dynamic[buffer];
  return Tensor::view(info.dtype, shape_of(buffer), pointers[buffer], nullptr);
}

/// Generated code has no type in front of it for the sanitiser of undefined behaviour to look at.
__attribute__((no_sanitize("function"))) static void call(KernelFunction function, const KernelArgs& args, int64_t begin, int64_t end) {
  function(&args, begin, end);
}

Result<void> Context::State::run_kernel(const Step& step, const RunOptions& options, int threads) {
  const int64_t tasks = sizes[step.tasks];
  if (tasks <= 0) return {};
  for (size_t k = 0; k < step.buffers.size(); ++k) arguments[k] = pointers[step.buffers[k]];
  for (size_t k = 0; k < step.sizes.size(); ++k) kernel_sizes[k] = sizes[step.sizes[k]];
  const KernelFunction function = engine->kernel(step.code);
  std::byte* scratch_base = scratch.data();
  const uint64_t stride = scratch_stride;
  const bool watch = options.token != nullptr || options.deadline != Clock::time_point::max();
  std::atomic<bool> stopped{false};
  auto body = [&](int64_t begin, int64_t end, int thread) {
    if (watch && (stopped.load(std::memory_order_relaxed) || (options.token && options.token->stop.load(std::memory_order_relaxed)) ||
                  Clock::now() > options.deadline)) {
      stopped.store(true, std::memory_order_relaxed);
      return;
    }
    const KernelArgs args{arguments.data(), kernel_sizes.data(), scratch_base + stride * static_cast<uint64_t>(thread)};
    call(function, args, begin, end);
  };
  default_team().run(tasks, std::max<int64_t>(1, sizes[step.grain]), body, threads);
  return {};
}

Result<void> Context::State::run_opaque(const Step& step) {
  if (!opaque[step.code]) opaque[step.code] = TRY(engine->opaque()->make(program().opaque[step.code]));
  std::vector<Tensor> operands(step.buffers.size());
  std::vector<const Tensor*> in(step.buffers.size(), nullptr);
  for (size_t k = 0; k < step.buffers.size(); ++k) {
    if (step.buffers[k] == kMissing) continue;
    operands[k] = tensor_of(step.buffers[k]);
    in[k] = &operands[k];
  }
  std::vector<Tensor> out = TRY(opaque[step.code]->run(in));
  if (out.size() < step.results.size()) return fail(Code::internal, step.label, "an opaque op returned too few results");
  for (const Step::Binding& b : step.bindings) {
    const Tensor& t = out[b.result];
    if (b.axis >= static_cast<uint32_t>(t.rank()))
      return fail(Code::internal, step.label, "an opaque op returned another rank than inferred");
    sizes[b.slot] = t.shape()[b.axis];
  }
  for (size_t k = 0; k < step.results.size(); ++k) {
    const uint32_t b = step.results[k];
    if (b == kMissing) continue;
    TRY(own(out[k], step, operands));
    dynamic[b] = out[k];
    pointers[b] = out[k].count() > 0 && out[k].dtype() != DType::string ? out[k].mutable_data() : nothing;
    TRY(keep_result(b, out[k]));
  }
  return {};
}

/// A result that only passes an operand on (Identity, a branch of If) must not outlive the operand's memory.
Result<void> Context::State::own(Tensor& result, const Step& step, const std::vector<Tensor>& operands) const {
  if (result.dtype() == DType::string || result.byte_size() == 0) return {};
  for (size_t k = 0; k < operands.size(); ++k) {
    const Tensor& t = operands[k];
    if (t.empty_handle() || t.dtype() == DType::string || program().buffers[step.buffers[k]].kind == BufferInfo::Kind::dynamic) continue;
    if (result.data() < t.data() || result.data() >= t.data() + t.byte_size()) continue;
    Tensor copy = TRY(Tensor::make(result.dtype(), result.shape()));
    std::memcpy(copy.mutable_data(), result.data(), static_cast<size_t>(result.byte_size()));
    result = std::move(copy);
    return {};
  }
  return {};
}

void Context::State::write_sizes(const Step& step) {
  const uint32_t b = step.buffers[0];
  std::byte* to = static_cast<std::byte*>(pointers[b]);
  for (size_t k = 0; k < step.sizes.size(); ++k) {
    const int64_t v = sizes[step.sizes[k]];
    switch (program().buffers[b].dtype) {
      case DType::i64:
      case DType::u64: std::memcpy(to + 8 * k, &v, 8); break;
      case DType::i32:
      case DType::u32: std::memcpy(to + 4 * k, &v, 4); break;
      case DType::i16:
      case DType::u16: std::memcpy(to + 2 * k, &v, 2); break;
      case DType::f64:
      case DType::f32:
      case DType::f16:
      case DType::bf16: {
        const DType dtype = program().buffers[b].dtype;
        const uint64_t bits = encode_float(dtype, static_cast<double>(v));
        const size_t width = static_cast<size_t>(bits_of(dtype)) / 8;
        std::memcpy(to + width * k, &bits, width);
        break;
      }
      default: std::memcpy(to + k, &v, 1); break;
    }
  }
}

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Engine> engine) {
  auto s = std::make_unique<State>();
  const Program& p = engine->program();
  s->engine = std::move(engine);
  s->shapes.resize(p.inputs.size());
  s->sizes.resize(p.sizes.size());
  s->pointers.assign(p.buffers.size(), nullptr);
  s->dynamic.resize(p.buffers.size());
  s->opaque.resize(p.opaque.size());
  s->results.resize(p.outputs.size());
  s->bound.resize(p.outputs.size());
  s->result_blocks = std::vector<Block>(p.outputs.size());
  for (uint32_t b = 0; b < p.buffers.size(); ++b)
    if (p.buffers[b].kind == BufferInfo::Kind::arena && sized_late(p, p.buffers[b])) s->late.emplace_back(b, Tensor());
  size_t arguments = 0, sizes = 0;
  for (const Step& step : p.steps) {
    arguments = std::max(arguments, step.buffers.size());
    sizes = std::max(sizes, step.sizes.size());
    s->scratch_stride = std::max(s->scratch_stride, (step.scratch_bytes + 4095 + kSlack) / 4096 * 4096);
  }
  s->arguments.resize(arguments);
  s->kernel_sizes.resize(sizes);
  return std::unique_ptr<Context>(new Context(std::move(s)));
}

Result<std::span<const Tensor>> Context::run(std::span<const Tensor> inputs, const RunOptions& options) {
  State& s = *state_;
  TRY(s.check(inputs));
  const int threads = options.threads > 0 ? std::min(options.threads, default_team().size()) : default_team().size();
  TRY(s.prepare(inputs, threads));
  uint32_t lines = s.program().door_lines;
  TRY(s.place_results());
  for (uint32_t k = 0; k < s.program().steps.size(); ++k) {
    const Step& step = s.program().steps[k];
    if (options.token && options.token->stop.load(std::memory_order_relaxed))
      return fail(Code::cancelled, step.label, "the run was cancelled");
    if (options.deadline != Clock::time_point::max() && Clock::now() > options.deadline)
      return fail(Code::deadline, step.label, "the deadline has passed");
    if (step.lines > lines) {
      TRY(evaluate_sizes(s.program(), lines, step.lines, s.shapes, s.sizes));
      TRY(s.place_late(lines, step.lines));
      lines = step.lines;
      TRY(s.place_results());
    }
    const auto start = options.on_step ? Clock::now() : Clock::time_point{};
    switch (step.kind) {
      case Step::Kind::kernel: TRY(s.run_kernel(step, options, threads)); break;
      case Step::Kind::opaque: TRY(s.run_opaque(step)); break;
      case Step::Kind::sizes: s.write_sizes(step); break;
    }
    if (options.on_step) options.on_step(k, start, Clock::now());
  }
  if (options.token && options.token->stop.load(std::memory_order_relaxed)) return fail(Code::cancelled, "run", "the run was cancelled");
  if (options.deadline != Clock::time_point::max() && Clock::now() > options.deadline)
    return fail(Code::deadline, "run", "the deadline has passed");
  return std::span<const Tensor>(s.results);
}

void Context::bind_output(size_t index, void* memory, size_t bytes) { state_->bound[index] = {memory, bytes}; }

uint64_t Context::arena_bytes() const { return state_->planned ? state_->layout.bytes : 0; }

Result<uint64_t> Context::planned_bytes(std::span<const Sizes> input_shapes) const {
  std::vector<std::vector<int64_t>> shapes(input_shapes.begin(), input_shapes.end());
  std::vector<int64_t> sizes;
  TRY(evaluate_sizes(state_->program(), 0, state_->program().door_lines, shapes, sizes));
  return TRY(lay_out(state_->program(), sizes)).bytes;
}

}  // namespace tenon::runtime
