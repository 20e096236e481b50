// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ops/core/op.h"
#include "plugin/tensor_views.h"
#include "tenon/plugin.h"

namespace tenon::ops {

/// The types of a node's operands in the structs of the C interface. Points into the view that it is constructed from.
class TypeViews {
 public:
  explicit TypeViews(const NodeView& view);
  TypeViews(const TypeViews&) = delete;
  uint32_t size() const { return static_cast<uint32_t>(types_.size()); }
  const tenon_type* const* data() const { return pointers_.data(); }

 private:
  struct Sizes {
    std::vector<tenon_dim> sizes, data;
  };
  std::vector<Sizes> sizes_;
  plugin::TensorViews constants_;
  std::vector<tenon_type> types_;
  std::vector<const tenon_type*> pointers_;
};

}  // namespace tenon::ops
