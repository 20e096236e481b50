// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/states.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace tenon::runtime {

namespace {

/// The rows of a state in memory: `count` ranges of `bytes` bytes, one every `stride` bytes.
struct StateRows {
  size_t count = 0, bytes = 0, stride = 0;
};

StateRows rows_of(const StateInfo& state, int64_t length) {
  if (!state.growing_axis) return {1, bytes_of(state), 0};
  const auto axis = state.shape.begin() + *state.growing_axis;
  const int64_t outside = *checked_count({state.shape.begin(), axis}), inside = *checked_count({axis + 1, state.shape.end()});
  return {static_cast<size_t>(outside), static_cast<size_t>(tenon::bytes_of(state.dtype, length * inside)),
          static_cast<size_t>(tenon::bytes_of(state.dtype, *axis * inside))};
}

Error wrong_memory(const StateInfo& state, std::string what) { return fail(Code::bad_input, state_place(state), std::move(what)); }

bool fits_shape(const Sizes& shape, const StateInfo& state) {
  return std::ranges::equal(shape, state.shape, [](int64_t size, int64_t wanted) { return size == wanted || wanted == kFreeSize; });
}

Result<void> check_state_memory(const StateInfo& state, const Tensor& memory, int64_t length) {
  if (memory.dtype() != state.dtype || !fits_shape(memory.shape(), state))
    return wrong_memory(state, "the memory has another type than the state")
        .expected(state_type_text(state))
        .found(type_text(memory))
        .advice(state.growing_axis ? "give memory of the whole capacity" : "give memory of the state's type");
  const auto alignment = static_cast<uintptr_t>(std::max(1, bits_of(state.dtype) / 8));
  if (reinterpret_cast<uintptr_t>(memory.data()) % alignment != 0)
    return wrong_memory(state, "the memory is not aligned")
        .expected(fmt::format("an address divisible by {}", alignment))
        .found(fmt::format("{} more", reinterpret_cast<uintptr_t>(memory.data()) % alignment));
  const int64_t most = state.growing_axis ? state.shape[*state.growing_axis] : 0;
  if (length < 0 || length > most)
    return wrong_memory(state, state.growing_axis ? "the length is over the capacity" : "only growing states have a length")
        .expected(fmt::format("0 .. {}", most))
        .found(std::to_string(length));
  return {};
}

}  // namespace

std::string state_place(const StateInfo& state) { return fmt::format("state '{}'", state.name); }

uint64_t bytes_of(const StateInfo& state) { return static_cast<uint64_t>(tenon::bytes_of(state.dtype, *checked_count(state.shape))); }

Sizes shape_at(const StateInfo& state, int64_t length) {
  Sizes shape = state.shape;
  if (state.growing_axis) shape[*state.growing_axis] = length;
  return shape;
}

void gather_state(const StateInfo& state, int64_t length, const std::byte* from, std::byte* dense) {
  const StateRows rows = rows_of(state, length);
  for (size_t k = 0; k < rows.count && rows.bytes > 0; ++k) std::memmove(dense + k * rows.bytes, from + k * rows.stride, rows.bytes);
}

void scatter_state(const StateInfo& state, int64_t length, const std::byte* dense, std::byte* to) {
  const StateRows rows = rows_of(state, length);
  for (size_t k = 0; k < rows.count && rows.bytes > 0; ++k) std::memmove(to + k * rows.stride, dense + k * rows.bytes, rows.bytes);
}

States::States(std::span<const StateInfo> infos, const std::byte* weights) : infos_(infos), weights_(weights), values_(infos.size()) {
  for (uint32_t k = 0; k < infos.size(); ++k) {
    values_[k].info = infos[k];
    free_sizes(k);
  }
}

void States::free_sizes(uint32_t state) {
  Value& v = values_[state];
  if (!has_free_sizes(infos_[state]) || !v.bound.empty_handle()) return;
  v.info.shape = infos_[state].shape;
  std::ranges::replace(v.info.shape, kFreeSize, 0);
  v.data = nullptr;
}

Result<void> States::fix_shape(uint32_t state, const Sizes& shape) {
  Value& v = values_[state];
  if (v.info.shape != shape) {
    v.info.shape = shape;
    v.length = 0;
    v.data = nullptr;
  }
  auto done = reserve(state);
  if (!done) free_sizes(state);
  return done;
}

Result<void> States::check_shape(uint32_t state, const Sizes& shape) const {
  const Value& v = values_[state];
  if (v.info.shape == shape) return {};
  const bool is_bound = !v.bound.empty_handle(), is_empty = v.length == 0 && std::ranges::count(v.info.shape, 0) > 0;
  if (is_bound || !is_empty)
    return fail(Code::bad_input, state_place(infos_[state]), "the run has another size than the state in this context")
        .expected(
            fmt::format("{}, which {} has fixed", type_text(v.info.dtype, v.info.shape), is_bound ? "bound memory" : "an earlier run"))
        .found(type_text(v.info.dtype, shape))
        .advice(is_bound ? "bind memory of the new size" : "reset the state first, or use a context for each size");
  const auto count = checked_count(shape);
  if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; }) || !count || *count > int64_t{1} << 45)
    return fail(Code::size_overflow, state_place(infos_[state]), "the state has no such size")
        .expected("sizes of 0 or more, at most 2^45 elements")
        .found(type_text(v.info.dtype, shape))
        .advice("give smaller inputs");
  return {};
}

Result<void> States::check_valid(uint32_t state) const {
  if (!values_[state].is_valid)
    return fail(Code::bad_input, state_place(infos_[state]), "a run that failed has left part of a new value")
        .expected("a state that holds a whole value")
        .found("one that was being written when the run ended")
        .advice("reset or restore the state, or bind other memory to it");
  return {};
}

Result<void> States::prepare(uint32_t state) {
  TRY(check_valid(state));
  return reserve(state);
}

Result<void> States::reserve(uint32_t state) {
  Value& v = values_[state];
  if (v.data != nullptr) return {};
  const uint64_t bytes = bytes_of(v.info) + kSlack;
  if (v.info.growing_axis) v.memory.fill_slowly();
  auto memory = v.memory.reserve(bytes);
  if (!memory)
    return fail(Code::out_of_memory, state_place(infos_[state]), "no memory for the state")
        .expected(fmt::format("{} bytes", bytes))
        .found(memory.error()->found)
        .advice(infos_[state].growing_axis ? "build the model with a smaller capacity" : "run fewer contexts at once");
  v.data = *memory;
  set_initial(state);
  return {};
}

void States::set_initial(uint32_t state) {
  Value& v = values_[state];
  const StateInfo& info = v.info;
  v.length = 0;
  if (info.growing_axis || bytes_of(info) == 0) return;
  if (info.initial) std::memcpy(v.data, weights_ + *info.initial, bytes_of(info));
  else std::memset(v.data, 0, bytes_of(info));
}

void States::reset(uint32_t state) {
  Value& v = values_[state];
  v.is_valid = true;
  v.length = 0;
  free_sizes(state);
  if (v.data != nullptr) set_initial(state);
}

Result<void> States::check_overlap(uint32_t state, const Tensor& memory) const {
  const auto begin = [](const Tensor& t) { return reinterpret_cast<uintptr_t>(t.data()); };
  const auto end = [&](const Tensor& t) { return begin(t) + static_cast<uintptr_t>(t.byte_size()); };
  for (size_t k = 0; k < values_.size(); ++k) {
    const Tensor& other = values_[k].bound;
    if (k == state || other.empty_handle() || begin(memory) >= end(other) || begin(other) >= end(memory)) continue;
    return fail(Code::bad_usage, state_place(infos_[state]), "the memory is bound to another state")
        .expected("memory of its own")
        .found(fmt::format("bytes of {}", state_place(infos_[k])))
        .advice("give every state its own memory");
  }
  return {};
}

Result<void> States::bind(uint32_t state, const Tensor& memory, int64_t length) {
  Value& v = values_[state];
  if (memory.empty_handle()) {
    v.bound = Tensor();
    v.data = nullptr;  // its own memory is set up again
    v.length = 0;
    v.is_valid = true;
    free_sizes(state);
    return {};
  }
  if (!v.bound.empty_handle())
    return fail(Code::bad_usage, state_place(infos_[state]), "the state is bound already")
        .expected("a state without memory of the caller's")
        .found("one that is bound")
        .advice("unbind it first");
  TRY(check_on_host(memory, state_place(infos_[state])));
  TRY(check_state_memory(infos_[state], memory, length));
  TRY(check_overlap(state, memory));
  v.info.shape = memory.shape();
  v.bound = memory;
  v.data = v.bound.byte_size() > 0 ? v.bound.mutable_data() : TRY(v.memory.reserve(kSlack));
  v.length = length;
  v.is_valid = true;
  return {};
}

Result<void> States::truncate(uint32_t state, int64_t length) {
  const StateInfo& info = infos_[state];
  if (!info.growing_axis)
    return fail(Code::bad_usage, state_place(info), "only growing states have a length")
        .expected("a growing state")
        .found(type_text(info.dtype, info.shape))
        .advice("reset it instead");
  if (length < 0 || length > values_[state].length)
    return fail(Code::bad_input, state_place(info), "a state cannot be made longer")
        .expected(fmt::format("0 .. {}", values_[state].length))
        .found(std::to_string(length))
        .advice("runs append to it");
  values_[state].length = length;
  return {};
}

Result<Tensor> States::value(uint32_t state) {
  TRY(prepare(state));
  const int64_t length = values_[state].length;
  Tensor out = TRY(Tensor::make(info(state).dtype, shape_at(info(state), length)));
  gather_state(info(state), length, values_[state].data, out.mutable_data());
  return out;
}

Result<void> States::assign(std::span<const Tensor> values) {
  for (const bool is_check : {true, false})  // bound memory keeps its shape
    for (uint32_t k = 0; k < values_.size(); ++k) {
      if (!has_free_sizes(infos_[k])) continue;
      Sizes shape = values[k].shape();
      if (infos_[k].growing_axis) shape[*infos_[k].growing_axis] = infos_[k].shape[*infos_[k].growing_axis];
      if (is_check && !values_[k].bound.empty_handle()) TRY(check_shape(k, shape));
      if (!is_check) TRY(fix_shape(k, shape));
    }
  for (uint32_t k = 0; k < values_.size(); ++k) TRY(reserve(k));
  for (uint32_t k = 0; k < values_.size(); ++k) {
    const StateInfo& info = values_[k].info;
    if (info.growing_axis) values_[k].length = values[k].shape()[*info.growing_axis];
    values_[k].is_valid = true;
    scatter_state(info, values_[k].length, values[k].data(), values_[k].data);
  }
  return {};
}

Result<std::unique_ptr<States>> States::copy() {
  auto out = std::make_unique<States>(infos_, weights_);
  for (uint32_t k = 0; k < values_.size(); ++k) {
    if (values_[k].data == nullptr) continue;  // without memory it has its initial value
    TRY(prepare(k));
    out->values_[k].info = values_[k].info;
    TRY(out->prepare(k));
    out->values_[k].length = values_[k].length;
    const StateRows rows = rows_of(values_[k].info, values_[k].length);
    for (size_t r = 0; r < rows.count && rows.bytes > 0; ++r)
      std::memcpy(out->values_[k].data + r * rows.stride, values_[k].data + r * rows.stride, rows.bytes);
  }
  return out;
}

}  // namespace tenon::runtime
