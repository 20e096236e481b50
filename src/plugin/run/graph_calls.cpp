// SPDX-License-Identifier: Apache-2.0
#include "plugin/run/graph_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/point_at.h"
#include "plugin/given_tensor.h"
#include "plugin/host.h"

namespace tenon::plugin {

namespace {

Error bad_call(std::string place, std::string what) { return fail(Code::bad_input, std::move(place), std::move(what)); }

bool has_same_type(const tenon_tensor* t, const Tensor& before) {
  return t && !before.empty_handle() && static_cast<DType>(t->dtype) == before.dtype() && t->layout == TENON_ROW_MAJOR && !t->strides &&
         t->rank == before.rank() && t->sizes && std::equal(before.shape().begin(), before.shape().end(), t->sizes) &&
         (t->data || before.count() == 0);
}

Result<void> read_tensors(const tenon_tensor* const* from, std::vector<Tensor>& to, const char* kind, uint32_t number) {
  if (!from && !to.empty())
    return bad_call(fmt::format("inner graph {}", number), fmt::format("there is no list of {}s", kind))
        .expected(fmt::format("{} of them", to.size()))
        .found("null");
  for (size_t k = 0; k < to.size(); ++k) {
    if (has_same_type(from[k], to[k])) {
      if (to[k].data() != from[k]->data) point_at(to[k], from[k]->data);
      continue;
    }
    to[k] = Tensor();
    to[k] = TRY(given_tensor(from[k], fmt::format("inner graph {}, {} {}", number, kind, k)));
  }
  return {};
}

bool overlap(const Tensor& a, const Tensor& b) {
  return a.byte_size() > 0 && b.byte_size() > 0 && a.data() < b.data() + b.byte_size() && b.data() < a.data() + a.byte_size();
}

/// Checks that the memory of each result overlaps with no operand and no other result.
Result<void> check_disjoint(const std::vector<Tensor>& operands, const std::vector<Tensor>& results, uint32_t number) {
  for (size_t k = 0; k < results.size(); ++k) {
    const auto refuse = [&](std::string with) {
      return bad_call(fmt::format("inner graph {}, result {}", number, k), "its memory is that of another tensor of the call")
          .expected("memory of its own")
          .found("that of " + std::move(with));
    };
    for (size_t o = 0; o < operands.size(); ++o)
      if (overlap(results[k], operands[o])) return refuse(fmt::format("operand {}", o));
    for (size_t o = 0; o < k; ++o)
      if (overlap(results[k], results[o])) return refuse(fmt::format("result {}", o));
  }
  return {};
}

int32_t status_of(Code code) {
  switch (code) {
    case Code::out_of_memory: return TENON_OUT_OF_MEMORY;
    case Code::cancelled:
    case Code::deadline: return TENON_STOPPED;
    case Code::not_supported: return TENON_NOT_SUPPORTED;
    default: return TENON_FAILED;
  }
}

}  // namespace

void GraphCalls::set_graphs(InnerGraphs* graphs) {
  graphs_ = graphs;
  last_calls_.clear();
  for (uint32_t k = 0; graphs && k < graphs->count(); ++k) {
    const InnerGraphs::Ports ports = graphs->ports(k);
    last_calls_.push_back({std::vector<Tensor>(ports.operands), std::vector<Tensor>(ports.results)});
  }
}

Result<void> GraphCalls::check_number(uint32_t number) const {
  if (number < last_calls_.size()) return {};
  return bad_call(fmt::format("inner graph {}", number), "no such graph was added")
      .expected(last_calls_.empty() ? "a graph that `add_graphs` added: it added none" : fmt::format("0 to {}", last_calls_.size() - 1))
      .found(std::to_string(number));
}

Result<void> GraphCalls::checked_run(uint32_t number, const tenon_tensor* const* operands, const tenon_tensor* const* results) {
  TRY(check_number(number));
  LastCall& given = last_calls_[number];
  TRY(read_tensors(operands, given.operands, "operand", number));
  TRY(read_tensors(results, given.results, "result", number));
  TRY(check_disjoint(given.operands, given.results, number));
  auto done = graphs_->run(number, given.operands, given.results);
  if (done) return {};
  const std::string place = fmt::format("inner graph {}, {}", number, done.error()->place);
  return std::move(done).error().placed_at(place);
}

int32_t GraphCalls::run(uint32_t number, const tenon_tensor* const* operands, const tenon_tensor* const* results) {
  if (busy_.exchange(true, std::memory_order_acquire)) {
    set_failure("run_graph: another thread runs an inner graph of this node; they run one after the other");
    return TENON_FAILED;
  }
  auto done = checked_run(number, operands, results);
  const int32_t status = done ? TENON_OK : keep(std::move(done).error());
  busy_.store(false, std::memory_order_release);
  return status;
}

int32_t GraphCalls::ports(uint32_t number, uint32_t* operands, uint32_t* results) {
  if (auto known = check_number(number); !known) return keep(std::move(known).error());
  if (operands) *operands = static_cast<uint32_t>(last_calls_[number].operands.size());
  if (results) *results = static_cast<uint32_t>(last_calls_[number].results.size());
  return TENON_OK;
}

int32_t GraphCalls::keep(Error error) {
  set_failure(error.text());
  const int32_t status = status_of(error.code());
  error_ = std::move(error);
  return status;
}

Error GraphCalls::with_cause(Error enqueue) const {
  if (!error_ || !enqueue->what.ends_with(error_->text())) return enqueue;
  const Diagnostic& kept = **error_;
  return fail(kept.code, enqueue->place, fmt::format("its `enqueue` ran a graph that failed: {}: {}", kept.place, kept.what))
      .expected(kept.expected)
      .found(kept.found)
      .advice(kept.advice.empty() ? enqueue->advice : kept.advice);
}

}  // namespace tenon::plugin
