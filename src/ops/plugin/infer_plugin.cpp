// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/definition/infer_by_definition.h"
#include "ops/infer/types.h"
#include "ops/plugin/plugin_functions.h"
#include "ops/plugin/plugin_op.h"
#include "ops/plugin/type_views.h"
#include "plugin/host.h"
#include "plugin/struct_versions.h"

namespace tenon::ops {

namespace {

/// The port of operand or result `index`; indices after the last port belong to it, which is variadic.
const tenon_port& port_of(const std::vector<tenon_port>& ports, size_t index) { return ports[std::min(index, ports.size() - 1)]; }

Result<void> check_dtype(const NodeView& view, const plugin::Op& op, const tenon_port& port, DType dtype, std::string_view what) {
  if (port.dtypes == 0 || dtype == DType::none) return {};
  const auto bit = static_cast<uint32_t>(dtype);
  if (bit < 32 && (port.dtypes & TENON_DTYPE_BIT(bit))) return {};
  std::string allowed;
  for (uint32_t k = 0; k < 32; ++k)
    if (port.dtypes & TENON_DTYPE_BIT(k)) allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", name_of(static_cast<DType>(k)));
  return fail(Code::dtype_mismatch, fmt::format("{}, {}", view.where(), op.place()),
              fmt::format("{} '{}' has a dtype that it may not have", what, port.name))
      .expected(allowed)
      .found(std::string(name_of(dtype)));
}

Result<void> check_operands(const NodeView& view, const plugin::Op& op) {
  for (size_t k = 0; k < view.explicit_inputs && !op.operands.empty(); ++k)
    if (view.has(k)) TRY(check_dtype(view, op, port_of(op.operands, k), view.type(k).dtype, "operand"));
  return {};
}

/// The types that the plugin's `infer` writes.
class Inference {
 public:
  Inference(NodeView& view, const plugin::Op& op)
      : view_(view), op_(op), operands_(view), results_(view.outputs.size()), sizes_(view.outputs.size()) {
    for (size_t k = 0; k < results_.size(); ++k) {
      sizes_[k].assign(TENON_MAX_RANK, plugin::handle_of(plugin::no_dim()));
      results_[k] = plugin::blank<tenon_type>();
      results_[k].rank = -1;
      results_[k].sizes = sizes_[k].data();
      pointers_.push_back(&results_[k]);
    }
    call_ = {.own = {.struct_size = sizeof(tenon_inference),
                     .host = op.host->table(),
                     .operand_count = operands_.size(),
                     .operands = operands_.data(),
                     .result_count = static_cast<uint32_t>(results_.size()),
                     .results = pointers_.data(),
                     .sized_by_data = sized_by_data},
             .symbols = view.symbols};
  }

  Result<void> run() {
    const auto object = TRY(object_of(view_, op_));
    TRY(object->infer(call_.own));
    for (size_t k = 0; k < results_.size(); ++k) TRY(take(k));
    return {};
  }

 private:
  struct Call {  // standard layout: an inference is a call
    tenon_inference own;
    Symbols* symbols;
  };
  static tenon_dim sized_by_data(const tenon_inference* inference, tenon_dim most) {
    const Dim limit = plugin::dim_of(most);
    if (limit.is_overflow() || limit.upper() < 0) return plugin::handle_of(plugin::no_dim());
    Symbols* const symbols = reinterpret_cast<const Call*>(inference)->symbols;
    return plugin::handle_of(symbols->fresh("u", 0, std::min(limit.upper(), int64_t{1} << 40)));
  }

  Error wrong(size_t k, std::string what) const {
    return fail(Code::device_failed, fmt::format("{}, {}", view_.where(), op_.place()),
                fmt::format("its `infer` gives an invalid type of result '{}': {}", port_of(op_.results, k).name, what))
        .advice("the plugin has to be mended; `tenon plugin test` tries its functions");
  }

  Result<void> take(size_t k) {
    const tenon_type& given = results_[k];
    const auto dtype = dtype_from_onnx(given.dtype);
    if (!dtype || *dtype == DType::none || *dtype == DType::string) return wrong(k, fmt::format("dtype {}", given.dtype));
    TRY(check_dtype(view_, op_, port_of(op_.results, k), *dtype, "result"));
    if (given.rank < 0 || given.rank > TENON_MAX_RANK) return wrong(k, fmt::format("rank {}", given.rank));
    DimList shape;
    for (int32_t axis = 0; axis < given.rank; ++axis) {
      const Dim d = plugin::dim_of(given.sizes[axis]);
      if (d.is_overflow() || d.upper() < 0)
        return wrong(k, fmt::format("size {} of axis {}", d.is_overflow() ? "without a value" : d.text(), axis));
      shape.push_back(d);
    }
    set_output(view_, k, ir::Type(*dtype, std::move(shape)));
    return {};
  }

  NodeView& view_;
  const plugin::Op& op_;
  TypeViews operands_;
  std::vector<tenon_type> results_;
  std::vector<std::vector<tenon_dim>> sizes_;
  std::vector<tenon_type*> pointers_;
  Call call_;
};

}  // namespace

Result<void> infer_plugin(NodeView& view) {
  const plugin::Op& op = plugin_of(*view.op)->op();
  TRY(check_operands(view, op));
  if (op.table.infer) return Inference(view, op).run();
  TRY(fields_of(view, op));
  return infer_by_definition(view);
}

}  // namespace tenon::ops
