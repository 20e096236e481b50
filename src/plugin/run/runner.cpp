// SPDX-License-Identifier: Apache-2.0
#include "plugin/run/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/threads/thread_pool.h"
#include "plugin/host.h"
#include "plugin/struct_versions.h"

namespace tenon::plugin {

namespace {

constexpr RunResources kNotRunning;

int32_t refuse(const char* text) {
  set_failure(text);
  return TENON_FAILED;
}

}  // namespace

Result<std::unique_ptr<Runner>> Runner::make(std::shared_ptr<const Object> object, size_t operands, std::vector<DType> results,
                                             const Layouts& layouts) {
  auto attached = TRY(object->attach());
  std::unique_ptr<Runner> out(new Runner(std::move(object), std::move(attached), operands, std::move(results)));
  if (std::ranges::any_of(layouts, [](int32_t l) { return l != TENON_ROW_MAJOR; })) {
    const auto first_result = layouts.begin() + static_cast<ptrdiff_t>(operands);
    out->conversions_.reset(new LayoutConversions{LayoutConversion(out->operands_, Layouts(layouts.begin(), first_result)),
                                                  LayoutConversion(out->results_, Layouts(first_result, layouts.end()))});
  }
  return out;
}

Result<void> Runner::lay_out() {
  const auto one = [](LayoutConversion& laid_out, const TensorViews& views, size_t k) -> Result<void> {
    if (views[k].dtype != TENON_NO_DTYPE) return laid_out.lay_out(k);
    laid_out.clear(k);
    return {};
  };
  for (size_t k = 0; k < operands_.size(); ++k) TRY(one(conversions_->operands, operands_, k));
  for (size_t k = 0; k < results_.size(); ++k) TRY(one(conversions_->results, results_, k));
  return {};
}

Result<void> Runner::enqueue() {
  if (!conversions_) [[likely]]
    return object().enqueue(call_.get());
  conversions_->operands.convert_operands(resources_->thread_pool, call_->threads);
  TRY(object().enqueue(call_.get()));
  conversions_->results.convert_results(resources_->thread_pool, call_->threads);
  return {};
}

Runner::Runner(std::shared_ptr<const Object> object, std::unique_ptr<Object> attached, size_t operands, std::vector<DType> results)
    : shared_(std::move(object)),
      attached_(std::move(attached)),
      operands_(operands),
      results_(results.size()),
      dtypes_(std::move(results)),
      late_(dtypes_.size()),
      is_late_(dtypes_.size()),
      resources_(&kNotRunning),
      call_(*this, *shared_, operands_, results_) {}

bool Runner::stopped() const { return resources_->stopped && resources_->stopped(resources_->stopped_of); }

Result<void> Runner::set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places, const std::vector<bool>& wanted) {
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].empty_handle()) operands_.clear(k);
    else operands_.set(k, operands[k]);
  }
  any_late_ = false;
  for (size_t k = 0; k < places.size(); ++k) {
    is_late_[k] = wanted[k] && places[k].empty_handle();
    any_late_ |= is_late_[k];
    if (!wanted[k]) results_.clear(k);
    else if (is_late_[k]) forget(k);
    else results_.set(k, places[k]);
  }
  if (conversions_) TRY(lay_out());
  TRY(object().shapes_changed(operands_.data(), results_.data()));
  const uint64_t bytes = TRY(object().workspace(operands_.data(), results_.data()));
  if (workspace_.empty_handle() || static_cast<uint64_t>(workspace_.byte_size()) < bytes)
    workspace_ = TRY(Tensor::make(DType::u8, {static_cast<int64_t>(bytes)}));
  call_->workspace = bytes > 0 ? workspace_.mutable_data() : nullptr;
  return {};
}

Result<void> Runner::run(const RunResources& resources) {
  const Uses uses(*this, resources);
  call_->threads = resources.thread_pool ? resources.threads : 1;
  if (any_late_)
    for (size_t k = 0; k < late_.size(); ++k)
      if (is_late_[k]) forget(k);
  graphs_.forget();
  if (auto done = enqueue(); !done) return graphs_.with_cause(std::move(done).error());
  for (size_t k = 0; any_late_ && k < late_.size(); ++k)
    if (is_late_[k] && late_[k].empty_handle())
      return fail(Code::device_failed, object().op().place(), fmt::format("its `enqueue` did not set the sizes of result {}", k))
          .expected("a call of set_sizes for each result whose sizes depend on data")
          .found("none");
  return {};
}

void Runner::forget(size_t result) {
  late_[result] = Tensor();
  if (conversions_) conversions_->results.clear(result);
  results_.set_type(result, dtypes_[result], {});
  results_.set_data(result, nullptr);
}

int32_t Runner::parallel_for(int64_t count, int64_t grain, Body body, void* argument) {
  if (!resources_->thread_pool) body(argument, 0, count, 0);
  else
    resources_->thread_pool->run(
        count, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end, int thread) { body(argument, begin, end, thread); },
        resources_->threads);
  return TENON_OK;
}

int32_t Runner::set_sizes(uint32_t result, std::span<const int64_t> sizes, void** data) {
  if (result >= dtypes_.size() || !is_late_[result]) return refuse("set_sizes: the sizes of this result are known before the run");
  if (!late_[result].empty_handle()) return refuse("set_sizes: the sizes of this result are set already");
  auto made = Tensor::make(dtypes_[result], Sizes(sizes.begin(), sizes.end()));
  if (!made) {
    set_failure(made.error().text());
    return made.error().code() == Code::out_of_memory ? TENON_OUT_OF_MEMORY : TENON_FAILED;
  }
  late_[result] = *std::move(made);
  results_.set(result, late_[result]);
  if (conversions_)
    if (const auto done = conversions_->results.lay_out(result); !done) {
      set_failure(done.error().text());
      return TENON_OUT_OF_MEMORY;
    }
  *data = results_[result].data;
  return TENON_OK;
}

}  // namespace tenon::plugin
