// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/type_views.h"

#include "plugin/host.h"
#include "plugin/struct_versions.h"

namespace tenon::ops {

TypeViews::TypeViews(const NodeView& view) : sizes_(view.explicit_inputs), constants_(view.explicit_inputs), types_(view.explicit_inputs) {
  plugin::clear_dims();
  for (size_t k = 0; k < view.explicit_inputs; ++k) {
    const ir::Operand& operand = view.inputs[k];
    tenon_type& out = types_[k];
    out = plugin::blank<tenon_type>();
    out.rank = -1;
    pointers_.push_back(&out);
    if (!operand.present) continue;
    out.dtype = static_cast<int32_t>(operand.type.dtype);
    if (operand.type.has_rank()) {
      for (Dim d : *operand.type.shape) sizes_[k].sizes.push_back(plugin::handle_of(d));
      out.rank = operand.type.rank();
      out.sizes = sizes_[k].sizes.data();
    }
    if (operand.data) {
      for (Dim d : *operand.data) sizes_[k].data.push_back(plugin::handle_of(d));
      out.data_count = sizes_[k].data.size();
      out.data = sizes_[k].data.data();
    }
    if (!operand.constant || !operand.constant->has_bytes()) continue;
    constants_.set(k, *operand.constant);
    out.constant = constants_.data()[k];
  }
}

}  // namespace tenon::ops
