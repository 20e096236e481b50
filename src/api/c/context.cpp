// SPDX-License-Identifier: Apache-2.0
// Contexts of the C interface, and their runs.
#include "api/c/context.h"

#include <algorithm>
#include <cstring>

#include "api/c/engine.h"
#include "api/output_buffers.h"

namespace tenon::inline v1 {

namespace {

/// Binds memory of the caller's to outputs for one run.
class BoundOutputs {
 public:
  BoundOutputs(Context& context, std::string_view entry, std::span<const Destination> destinations)
      : context_(context), entry_(entry), destinations_(destinations) {}
  BoundOutputs(const BoundOutputs&) = delete;
  ~BoundOutputs() {
    for (size_t k = 0; k < bound_; ++k)
      if (destinations_[k].buffer.data != nullptr) (void)context_.bind_output(k, nullptr, 0, entry_);
  }

  base::Result<void> bind() {
    for (; bound_ < destinations_.size(); ++bound_) {
      const OutputBuffer& b = destinations_[bound_].buffer;
      if (b.data != nullptr) TRY(inner(context_.bind_output(bound_, b.data, b.bytes, entry_)));
    }
    return {};
  }

 private:
  Context& context_;
  std::string_view entry_;
  std::span<const Destination> destinations_;
  size_t bound_ = 0;
};

/// The result where the caller wants it. Errors: bad_input where the memory has another shape, or is too small.
base::Result<Array> delivered(const Array& result, const Destination& to, const std::string& name) {
  if (to.buffer.data == nullptr) return result;
  if (to.has_shape) TRY(check_shape(to.buffer, result.shape(), name));
  if (result.byte_size() > to.buffer.bytes)
    return refusal(Code::bad_input, "output '" + name + "'", "the memory is too small for the result",
                   std::to_string(result.byte_size()) + " bytes", std::to_string(to.buffer.bytes) + " bytes",
                   "give more memory, or leave the result in the context");
  if (result.byte_size() > 0 && result.data() != to.buffer.data) std::memcpy(to.buffer.data, result.data(), result.byte_size());
  return Array(result.dtype(), result.shape(), to.buffer.data, result.byte_size());
}

base::Result<void> run(tenon_context& c, std::string_view name, std::span<const Array> inputs, std::span<const Destination> destinations,
                       const RunOptions& options) {
  std::vector<OutputBuffer> buffers;
  for (const Destination& d : destinations) buffers.push_back(d.buffer);
  TRY(check_overlaps(inputs, buffers));
  BoundOutputs bound(c.context, name, destinations);
  TRY(bound.bind());
  const auto results = TRY(inner(c.context.run(name, inputs, options)));
  const Entry& entry = c.engine.entries()[c.entry];
  std::vector<Array> out;
  for (size_t k = 0; k < results.size(); ++k) out.push_back(TRY(delivered(results[k], destinations[k], entry.outputs[k].name)));
  c.strings.resize(out.size());
  c.results = std::move(out);
  return {};
}

}  // namespace

}  // namespace tenon::inline v1

// Functions of C are in no namespace.
using namespace tenon::v1;
namespace base = tenon::base;

extern "C" {

int32_t tenon_context_create(const tenon_engine* engine, const tenon_context_options* options, tenon_context** context,
                             tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(engine, "engine"));
    TRY(check_not_null(context, "context"));
    const tenon_context_options o = TRY(read_struct(options, "options"));
    TRY(check_not_negative(o.threads, "options: threads"));
    Context made = TRY(inner(Context::create(engine->engine)));
    *context = new tenon_context{engine->engine, std::move(made), o.threads, o.pool != nullptr ? o.pool->pool : ThreadPool()};
    return {};
  });
}

void tenon_context_free(tenon_context* context) { delete context; }

int32_t tenon_context_run(tenon_context* context, const char* entry, const tenon_array* inputs, size_t input_count,
                          const tenon_array* outputs, size_t output_count, const tenon_run_options* options, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    context->results.clear();
    const std::string_view name = entry != nullptr ? entry : "";
    context->entry = TRY(inner(context->engine.entry(name)));
    const Entry& ports = context->engine.entries()[context->entry];
    const auto arrays = TRY(inputs_of(inputs, input_count, ports.inputs));
    const auto destinations = TRY(destinations_of(outputs, output_count, ports.outputs));
    return run(*context, name, arrays, destinations, TRY(run_options_of(*context, options)));
  });
}

size_t tenon_context_result_count(const tenon_context* context) { return context != nullptr ? context->results.size() : 0; }

int32_t tenon_context_result_at(const tenon_context* context, size_t index, tenon_array* result, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    if (index >= context->results.size())
      return refusal(Code::index_out_of_range, "index", "there is no such result", "below " + std::to_string(context->results.size()),
                     std::to_string(index), "results are counted from 0, and there are none before a run");
    const Entry& ports = context->engine.entries()[context->entry];
    auto& strings = const_cast<tenon_context*>(context)->strings[index];
    return write_struct(result, TRY(c_array_of(context->results[index], ports.outputs[index].name.c_str(), strings)), "result");
  });
}

int32_t tenon_context_result(const tenon_context* context, const char* name, tenon_array* result, tenon_error** error) {
  size_t index = 0;
  const int32_t code = call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(context, "context"));
    TRY(check_not_null(name, "name"));
    std::vector<std::string> names;
    for (const Port& p : context->engine.entries()[context->entry].outputs) names.push_back(p.name);
    index = static_cast<size_t>(std::ranges::find(names, std::string_view(name)) - names.begin());
    if (index < names.size()) return {};
    return no_such_name("output", name, names, Code::bad_usage);
  });
  return code == TENON_CODE_OK ? tenon_context_result_at(context, index, result, error) : code;
}

uint64_t tenon_context_arena_bytes(const tenon_context* context) { return context != nullptr ? context->context.arena_bytes() : 0; }

}  // extern "C"
