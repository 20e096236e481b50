// SPDX-License-Identifier: Apache-2.0
#include "plugin/object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/activity.h"
#include "base/dtype.h"
#include "plugin/host.h"

namespace tenon::plugin {

namespace {

constexpr uint32_t kMostTactics = 256;

/// Noted for whoever watches the process while a model is built.
Activity asked_for(std::string_view function, const Op& op) {
  return Activity({"plugin '", op.name_space, "::", op.name, "' of ", op.file, " was called for `", function, "`"});
}

Code code_of(int32_t status) {
  switch (status) {
    case TENON_NOT_SUPPORTED: return Code::not_supported;
    case TENON_BAD_FIELD: return Code::bad_attribute;
    case TENON_OUT_OF_MEMORY: return Code::out_of_memory;
    case TENON_STOPPED: return Code::cancelled;
    default: return Code::device_failed;
  }
}

std::string text_of(const tenon_tensor& t) {
  if (t.dtype == TENON_NO_DTYPE) return "_";
  return fmt::format("{}[{}]", name_of(static_cast<DType>(t.dtype)), fmt::join(std::span(t.sizes, static_cast<size_t>(t.rank)), ","));
}

std::string text_of(const tenon_tensor* const* tensors, uint32_t count) {
  std::string out;
  for (uint32_t k = 0; k < count; ++k) out += (k ? ", " : "") + text_of(*tensors[k]);
  return out;
}

/// What `save` puts.
struct Saved {
  std::vector<Field> fields;
  std::optional<Error> error;

  static int32_t put(const tenon_saver* to, const tenon_field* field) {
    Saved& out = *static_cast<Saved*>(to->host_data);
    auto copy = copy_of(field ? *field : tenon_field{});
    if (copy) out.fields.push_back(*std::move(copy));
    else out.error = std::move(copy).error();
    return copy ? TENON_OK : TENON_BAD_FIELD;
  }
};

}  // namespace

Error Object::error_of(std::string_view function, int32_t status) const {
  const std::string said = take_failure();
  return fail(code_of(status), fmt::format("{}, {}", node_, op_.place()),
              fmt::format("its `{}` says: {}", function, said.empty() ? fmt::format("status {}", status) : said));
}

Error Object::failed(std::string_view function, int32_t status, const tenon_call& call) const {
  return error_of(function, status)
      .expected("a run without an error")
      .found(fmt::format("({}) -> ({}), tactic {}", text_of(call.operands, call.operand_count), text_of(call.results, call.result_count),
                         call.tactic))
      .advice("the engine goes on: other runs are not touched by it");
}

Result<std::unique_ptr<Object>> Object::create(const Op& op, tenon_phase phase, std::string node, std::span<const Field> fields,
                                               size_t operands, size_t results) {
  std::unique_ptr<Object> out(new Object(op, std::move(node), nullptr));
  if (!op.table.create) return out;
  const FieldViews views(fields);
  const tenon_node given{.struct_size = sizeof(tenon_node),
                         .phase = phase,
                         .name = out->node_.c_str(),
                         .field_count = views.size(),
                         .fields = views.data(),
                         .operand_count = static_cast<uint32_t>(operands),
                         .result_count = static_cast<uint32_t>(results)};
  const Activity activity = asked_for("create", op);
  void* self = nullptr;
  TRY(out->checked("create", [&] { return op.table.create(op.host->table(), &given, &self); }));
  out->self_ = self;
  return out;
}

Object::~Object() {
  if (self_ && op_.table.destroy) op_.table.destroy(self_);
}

Result<void> Object::infer(tenon_inference& inference) const {
  const Activity activity = asked_for("infer", op_);
  return checked("infer", [&] { return op_.table.infer(self_, &inference); });
}

Result<void> Object::define(const tenon_definition& definition) const {
  const Activity activity = asked_for("define", op_);
  return checked("define", [&] { return op_.table.define(self_, &definition); });
}

Result<std::unique_ptr<Object>> Object::attach() const {
  if (!op_.table.attach) return std::unique_ptr<Object>();
  void* attached = nullptr;
  TRY(checked("attach", [&] { return op_.table.attach(self_, &attached); }));
  if (attached && attached == self_)
    return fail(Code::device_failed, fmt::format("{}, {}", node_, op_.place()),
                "its `attach` gives the object that it is to be attached to")
        .expected("an object of its own for each context")
        .found("one that would be destroyed twice")
        .advice("leave `attach` out where contexts may share the object");
  return std::unique_ptr<Object>(new Object(op_, node_, attached));
}

Result<void> Object::shapes_changed(const tenon_tensor* const* operands, const tenon_tensor* const* results) const {
  if (!op_.table.shapes_changed) return {};
  return checked("shapes_changed", [&] { return op_.table.shapes_changed(self_, operands, results); });
}

Result<uint64_t> Object::workspace(const tenon_tensor* const* operands, const tenon_tensor* const* results) const {
  uint64_t bytes = 0;
  if (op_.table.workspace) TRY(checked("workspace", [&] { return op_.table.workspace(self_, operands, results, &bytes); }));
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (bytes <= kMost) return bytes;
  return fail(Code::limit_exceeded, fmt::format("{}, {}", node_, op_.place()), "it requests too much workspace")
      .expected(fmt::format("at most {} bytes", kMost))
      .found(std::to_string(bytes));
}

Result<bool> Object::takes(uint32_t position, std::span<const tenon_format> formats, std::string& said) const {
  if (!op_.table.supports) return formats[position].layout == TENON_ROW_MAJOR;
  const Activity activity = asked_for("supports", op_);
  clear_failure();
  const int32_t status = op_.table.supports(self_, position, formats.data(), static_cast<uint32_t>(formats.size()));
  if (status != TENON_OK && status != TENON_NOT_SUPPORTED) return error_of("supports", status);
  said = take_failure();
  return status == TENON_OK;
}

Error Object::refusal(std::string what) const {
  return fail(Code::not_supported, fmt::format("{}, {}", node_, op_.place()), std::move(what));
}

Result<void> Object::configure(const tenon_ranges& ranges) const {
  if (!op_.table.configure) return {};
  const Activity activity = asked_for("configure", op_);
  return checked("configure", [&] { return op_.table.configure(self_, &ranges); });
}

Result<std::vector<tenon_tactic>> Object::tactics() const {
  std::vector<tenon_tactic> out;
  if (!op_.table.tactics) return out;
  const Activity activity = asked_for("tactics", op_);
  out.resize(kMostTactics);
  uint32_t count = 0;
  TRY(checked("tactics", [&] { return op_.table.tactics(self_, kMostTactics, out.data(), &count); }));
  const auto wrong = [&](std::string what, std::string expected, std::string found) {
    return fail(Code::device_failed, fmt::format("{}, {}", node_, op_.place()), "its `tactics` " + std::move(what))
        .expected(std::move(expected))
        .found(std::move(found))
        .advice("the plugin has to be mended");
  };
  if (count > kMostTactics)
    return wrong("offers more than there is room for", fmt::format("at most {}", kMostTactics), std::to_string(count));
  out.resize(count);
  std::set<int32_t> ids;
  for (const tenon_tactic& t : out) {
    if (t.id < 1) return wrong("offers one with a reserved id", "ids from 1; 0 is the plugin's own choice", std::to_string(t.id));
    if (!ids.insert(t.id).second) return wrong("offers one twice", "an id for each", fmt::format("{} twice", t.id));
  }
  return out;
}

Result<std::vector<Field>> Object::save(std::span<const Field> given) const {
  if (!op_.table.save) return std::vector<Field>(given.begin(), given.end());
  const Activity activity = asked_for("save", op_);
  Saved saved;
  const tenon_saver saver{.struct_size = sizeof(tenon_saver), .put = Saved::put, .host_data = &saved};
  auto done = checked("save", [&] { return op_.table.save(self_, &saver); });
  if (saved.error) return std::move(*saved.error).placed_at(op_.place());
  TRY(std::move(done));
  return std::move(saved.fields);
}

}  // namespace tenon::plugin
