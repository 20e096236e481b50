// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugin/field.h"
#include "plugin/host.h"
#include "plugin/op.h"

namespace tenon::plugin {

/// The instance of an op for one node, made by `create` or `attach`. Member functions call the functions of tenon/plugin.h; statuses become
/// errors that name the plugin, the node, the function and the library's failure text.
class Object {
 public:
  /// node: for messages. operands, results: their numbers. Errors: those of `create`.
  static Result<std::unique_ptr<Object>> create(const Op& op, tenon_phase phase, std::string node, std::span<const Field> fields,
                                                size_t operands, size_t results);
  ~Object();
  Object(const Object&) = delete;

  const Op& op() const { return op_; }
  /// A new object for one context, by `attach`; null where contexts share this one.
  Result<std::unique_ptr<Object>> attach() const;

  Result<void> infer(tenon_inference& inference) const;
  Result<void> define(const tenon_definition& definition) const;
  Result<void> enqueue(const tenon_call& call) const {
    clear_failure();
    if (const int32_t status = op_.table.enqueue(self_, &call); status != TENON_OK) [[unlikely]]
      return failed("enqueue", status, call);
    return {};
  }
  Result<void> shapes_changed(const tenon_tensor* const* operands, const tenon_tensor* const* results) const;
  Result<uint64_t> workspace(const tenon_tensor* const* operands, const tenon_tensor* const* results) const;
  /// Whether `supports` accepts the format at `position`, given those before it. said: set to its reason where it refuses. Errors: those of
  /// `supports`.
  Result<bool> takes(uint32_t position, std::span<const tenon_format> formats, std::string& said) const;
  /// The error not_supported for this node.
  Error refusal(std::string what) const;
  Result<void> configure(const tenon_ranges& ranges) const;
  /// Errors: those of `tactics`; device_failed for too many tactics, ids below 1 and duplicate ids.
  Result<std::vector<tenon_tactic>> tactics() const;
  /// The fields that an engine stores for the node: those of `save`, or `given`, the node's own fields, where the op has no `save`.
  Result<std::vector<Field>> save(std::span<const Field> given) const;
  void* self() const { return self_; }
  /// Calls a function of the op through `call`. Errors: its status as an error.
  template <class Call>
  Result<void> checked(std::string_view function, Call call) const {
    clear_failure();
    if (const int32_t status = call(); status != TENON_OK) return error_of(function, status);
    return {};
  }

 private:
  Object(const Op& op, std::string node, void* self) : op_(op), node_(std::move(node)), self_(self) {}
  Error failed(std::string_view function, int32_t status, const tenon_call& call) const;
  Error error_of(std::string_view function, int32_t status) const;

  const Op& op_;
  std::string node_;
  void* self_;
};

}  // namespace tenon::plugin
