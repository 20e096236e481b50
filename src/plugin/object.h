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

/// What `create` or `attach` of an op made: one node's instance. Its functions are called as tenon/plugin.h says, and their statuses become
/// errors that name the plugin, the node, the function and the library's own text.
class Object {
 public:
  /// node: for messages. operands, results: how many the node has. Errors: what `create` says.
  static Result<std::unique_ptr<Object>> create(const Op& op, tenon_phase phase, std::string node, std::span<const Field> fields,
                                                size_t operands, size_t results);
  ~Object();
  Object(const Object&) = delete;

  const Op& op() const { return op_; }
  /// A context's own; null where contexts share this one.
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
  /// Whether it takes the format at a position after those before it; `said`: its reason, where it gives one. Errors: what `supports` says.
  Result<bool> takes(uint32_t position, std::span<const tenon_format> formats, std::string& said) const;
  /// not_supported, of this node.
  Error refusal(std::string what) const;
  Result<void> configure(const tenon_ranges& ranges) const;
  /// Errors: what `tactics` says; device_failed for more than there is room for, for ids below 1 and for ids that come twice.
  Result<std::vector<tenon_tactic>> tactics() const;
  /// What an engine keeps: `given`, the node's own fields, where the op has no `save`.
  Result<std::vector<Field>> save(std::span<const Field> given) const;
  void* self() const { return self_; }
  /// Calls a function of the op, which `call` does. Errors: what its status says.
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
