// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::ops {

namespace {
/// "Transpose(f32[n,4], perm=[0,0])"
std::string given(const NodeView& view) {
  std::string out;
  for (size_t k = 0; k < view.explicit_inputs && k < view.inputs.size(); ++k)
    out += (k ? ", " : "") + (view.has(k) ? view.type(k).text() : std::string("none"));
  if (view.attributes)
    for (const auto& [name, value] : *view.attributes) out += (out.empty() ? "" : ", ") + name + "=" + ir::text_of(value);
  constexpr size_t kMost = 300;
  if (out.size() > kMost) out = out.substr(0, kMost) + "...";
  return view.op->name + "(" + out + ")";
}
}  // namespace

Error refuse(const NodeView& view, Code code, std::string what) {
  if (!view.op) return fail(code, view.where(), std::move(what));
  return fail(code, view.where(), view.op->name + ": " + std::move(what))
      .expected(fmt::format("what the ONNX standard says of {}", view.op->name))
      .found(given(view));
}

namespace {
std::string operand_name(size_t input) { return "operand " + std::to_string(input); }
}  // namespace

Result<void> require_rank(const NodeView& view, size_t input, int low, int high) {
  if (!view.has(input) || !view.type(input).has_rank()) return {};
  const int rank = view.rank(input);
  if (rank >= low && (high < 0 || rank <= high)) return {};
  std::string wanted = "rank " + std::to_string(low);
  if (high < 0) wanted += " or more";
  else if (high != low) wanted += " to " + std::to_string(high);
  return refuse(view, Code::rank_mismatch, operand_name(input) + " has a wrong rank").expected(wanted).found(view.type(input).text());
}

Result<void> require_dtype(const NodeView& view, size_t input, bool (*accepted)(DType), std::string_view wanted) {
  const DType dtype = dtype_of(view, input);
  if (dtype == DType::none || accepted(dtype)) return {};
  return refuse(view, Code::dtype_mismatch, operand_name(input) + " has a wrong dtype")
      .expected(std::string(wanted))
      .found(std::string(name_of(dtype)));
}

Result<void> require_same_dtype(const NodeView& view, size_t a, size_t b) {
  const DType x = dtype_of(view, a), y = dtype_of(view, b);
  if (x == DType::none || y == DType::none || x == y) return {};
  return refuse(view, Code::dtype_mismatch, "operands " + std::to_string(a) + " and " + std::to_string(b) + " differ in dtype")
      .expected(std::string(name_of(x)))
      .found(std::string(name_of(y)))
      .advice("put a Cast in front of one of them");
}

namespace {
using Assumed = ir::Assumption::Kind;

/// true where it holds or is assumed from now on.
bool assume(const NodeView& view, Assumed kind, Dim a, Dim b, FunctionRef<std::string()> what) {
  const auto known = ir::settled(kind, a, b);
  if (!known && view.assumptions) {
    view.assumptions->add(kind, a, b, [&](ir::Assumption& made) {
      made.where = view.where();
      made.what = what();
    });
  }
  return known.value_or(true);
}
}  // namespace

Result<void> require_equal(const NodeView& view, Dim a, Dim b, std::string_view what) {
  if (assume(view, Assumed::equal, a, b, [&] { return std::string(what) + " differ"; })) return {};
  return refuse(view, Code::shape_mismatch, std::string(what) + " differ").expected(a.text()).found(b.text());
}

Result<void> require_equal(const NodeView& view, const DimList& a, const DimList& b, std::string_view what) {
  for (size_t k = 0; k < a.size(); ++k) TRY(require_equal(view, a[k], b[k], what));
  return {};
}

Result<void> require_at_least(const NodeView& view, Dim a, Dim b, std::string_view what) {
  if (assume(view, Assumed::at_least, a, b, [&] { return std::string(what); })) return {};
  return refuse(view, Code::shape_mismatch, std::string(what)).expected("at least " + b.text()).found(a.text());
}

Result<void> require_spreads(const NodeView& view, Dim from, Dim to, std::string_view what) {
  if (from.known_equal(1)) return {};
  if (from.equals(1) == false) return require_equal(view, from, to, what);
  if (assume(view, Assumed::spreads, from, to, [&] { return std::string(what) + " differ"; })) return {};
  return refuse(view, Code::shape_mismatch, std::string(what) + " differ").expected(to.text() + " or 1").found(from.text());
}

Result<void> require_spreads(const NodeView& view, const DimList& from, const DimList& to, std::string_view what) {
  if (from.size() > to.size())
    return refuse(view, Code::rank_mismatch, std::string(what) + " differ: one has too many axes")
        .expected("what can be spread over " + text_of(to))
        .found(text_of(from));
  for (size_t k = 0; k < from.size(); ++k) TRY(require_spreads(view, from[k], to[k + to.size() - from.size()], what));
  return {};
}

bool is_number(DType dtype) { return is_real_arithmetic(dtype) || is_integer(dtype); }
bool is_signed_number(DType dtype) { return is_real_arithmetic(dtype) || (is_integer(dtype) && is_signed(dtype)); }
bool is_bool(DType dtype) { return dtype == DType::boolean; }
bool is_comparable(DType dtype) { return is_number(dtype) || dtype == DType::boolean; }
bool is_index(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

void set_output(NodeView& view, size_t k, Type type) {
  if (k < view.outputs.size()) view.outputs[k] = std::move(type);
}

namespace {
/// Is the number one of the dtype's values? Where it is not, the op wraps or rounds, and what it gives is not known.
bool holds(DType dtype, int64_t value) {
  const bool small = bits_of(dtype) == 32;
  if (is_float(dtype))
    return small ? static_cast<int64_t>(static_cast<float>(value)) == value : static_cast<int64_t>(static_cast<double>(value)) == value;
  if (dtype == DType::boolean) return value == 0 || value == 1;
  if (!small) return true;
  return is_signed(dtype) ? value == static_cast<int32_t>(value) : value == static_cast<uint32_t>(value);
}
}  // namespace

void set_data(NodeView& view, size_t k, ShapeData data) {
  if (k >= view.outputs.size() || data.size() > ir::kMaxShapeData) return;
  const DType dtype = view.outputs[k].dtype;
  if (dtype != DType::boolean && (bits_of(dtype) < 32 || is_complex(dtype) || dtype == DType::u64)) return;
  for (Dim d : data) {
    if (d.is_overflow() || (d.is_number() && !holds(dtype, d.value()))) return;
  }
  if (view.output_data.size() < view.outputs.size()) view.output_data.resize(view.outputs.size());
  view.output_data[k] = std::move(data);
}

bool ranks_known(const NodeView& view, std::initializer_list<size_t> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](size_t i) { return view.has(i) && view.type(i).has_rank(); });
}

DType dtype_of(const NodeView& view, size_t input) { return view.has(input) ? view.type(input).dtype : DType::none; }

Result<int> normal_axis(const NodeView& view, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  return refuse(view, Code::axis_out_of_range, "axis " + std::to_string(axis) + " is out of range")
      .expected(std::to_string(-rank) + " to " + std::to_string(rank - 1))
      .found(std::to_string(axis));
}

Result<std::vector<int>> normal_axes(const NodeView& view, const Ints& axes, int rank, bool sorted) {
  std::vector<int> out;
  for (int64_t axis : axes) {
    const int a = TRY(normal_axis(view, axis, rank));
    if (std::find(out.begin(), out.end(), a) != out.end()) {
      return refuse(view, Code::bad_attribute, "axis " + std::to_string(axis) + " is named twice");
    }
    out.push_back(a);
  }
  if (sorted) std::sort(out.begin(), out.end());
  return out;
}

namespace {
bool is_a(Dim d, DimNode::Kind kind) { return d.node() && d.node()->kind == kind; }

bool contains(const std::vector<Dim>& dims, Dim d) { return std::ranges::find(dims, d) != dims.end(); }

/// The operands of nested mins or maxs. One with a number is no set of sizes, but bounds one.
void leaves_of(Dim d, DimNode::Kind kind, std::vector<Dim>& out) {
  if (is_a(d, kind) && !d.node()->operands[1].is_number())
    for (Dim part : d.node()->operands) leaves_of(part, kind, out);
  else if (!contains(out, d)) out.push_back(d);
}

/// A size that is 0 exactly where `d` is.
Dim zero_with(Dim d) {
  if (is_a(d, DimNode::Kind::min))
    for (size_t k : {0, 1})
      if (d.node()->operands[k].lower() > 0) return zero_with(d.node()->operands[1 - k]);
  return d;
}

/// Either all of them are 0 or none.
bool agree_on_zero(const std::vector<Dim>& parts) {
  return std::ranges::all_of(parts, [](Dim part) { return part.lower() > 0; }) ||
         std::ranges::all_of(parts, [&](Dim part) { return zero_with(part) == zero_with(parts[0]); });
}

/// The sizes that a common size was made of: the leaves of its max. A max that a model computed is one size: it is not 0 where one of its
/// operands is.
void parts_of(Dim d, std::vector<Dim>& out) {
  std::vector<Dim> leaves, tested;
  if (is_a(d, DimNode::Kind::select) && d.node()->operands[2] == Dim(0)) {
    leaves_of(d.node()->operands[0], DimNode::Kind::min, tested);
    leaves_of(d.node()->operands[1], DimNode::Kind::max, leaves);
    if (!std::ranges::is_permutation(leaves, tested)) leaves = {d};
  } else {
    leaves_of(d, DimNode::Kind::max, leaves);
    if (!agree_on_zero(leaves)) leaves = {d};
  }
  for (Dim leaf : leaves)
    if (!contains(out, leaf)) out.push_back(leaf);
}

/// Each is 1 or one size that is common to all: that one. One form for each set of sizes, in whatever order they met.
Dim common_size(Dim a, Dim b) {
  std::vector<Dim> parts;
  parts_of(a, parts);
  parts_of(b, parts);
  // Where a size stands by itself it is not below 0.
  std::erase_if(parts, [&](Dim part) {
    return is_a(part, DimNode::Kind::max) && part.node()->operands[1] == Dim(0) && contains(parts, part.node()->operands[0]);
  });
  std::ranges::sort(parts, {}, [](Dim d) { return d.is_number() ? 0 : d.node()->id + 1; });
  Dim least = parts[0], most = parts[0];
  for (Dim part : parts) {
    least = min(least, part);
    most = max(most, part);
  }
  return agree_on_zero(parts) ? most : select(least, most, 0);
}
}  // namespace

std::optional<Dim> broadcast(Dim a, Dim b) {
  if (a == b) return a;
  if (a.is_number() && a.value() == 1) return b;
  if (b.is_number() && b.value() == 1) return a;
  if (ir::settled(Assumed::broadcast, a, b) == false) return std::nullopt;
  if (a.is_number()) return a;
  if (b.is_number()) return b;
  return a.known_equal(b) ? a : common_size(a, b);
}

Result<DimList> broadcast(const NodeView& view, const DimList& a, const DimList& b) {
  const size_t rank = std::max(a.size(), b.size());
  DimList out(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const Dim x = i + a.size() < rank ? Dim(1) : a[i + a.size() - rank];
    const Dim y = i + b.size() < rank ? Dim(1) : b[i + b.size() - rank];
    auto both = broadcast(x, y);
    if (!both ||
        !assume(view, Assumed::broadcast, x, y, [&] { return text_of(a) + " and " + text_of(b) + " cannot be broadcast together"; })) {
      return refuse(view, Code::shape_mismatch, "operands cannot be broadcast together")
          .expected("sizes equal or 1, axis by axis from the right")
          .found(text_of(a) + " and " + text_of(b));
    }
    out[i] = *both;
  }
  return out;
}

Result<std::optional<DimList>> broadcast_inputs(const NodeView& view, size_t first, size_t count) {
  DimList out;
  bool known = true;
  for (size_t i = first; i < first + count && i < view.inputs.size(); ++i) {
    if (!view.has(i)) continue;
    if (!view.type(i).has_rank()) known = false;
    else out = TRY(broadcast(view, out, *view.type(i).shape));
  }
  if (!known) return std::optional<DimList>();
  return std::optional(std::move(out));
}

std::optional<Sizes> numbers_of(const DimList& dims) {
  Sizes out;
  for (Dim d : dims) {
    if (!d.is_number()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

namespace {
/// Elements of a float tensor where all of them are whole.
std::optional<ShapeData> whole_elements(const Tensor& tensor) {
  if (tensor.count() > static_cast<int64_t>(ir::kMaxShapeData)) return std::nullopt;
  ShapeData out;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double v = tensor.number(i);
    if (!(std::abs(v) <= 1e15) || v != std::trunc(v)) return std::nullopt;  // a NaN is not <= anything
    out.push_back(Dim(static_cast<int64_t>(v)));
  }
  return out;
}
}  // namespace

std::optional<ShapeData> elements(const NodeView& view, size_t input) {
  if (!view.has(input)) return std::nullopt;
  const ir::Operand& operand = view.inputs[input];
  if (operand.constant && is_float(operand.constant->dtype())) return whole_elements(*operand.constant);
  if (auto data = view.dims(input)) return data;
  if (operand.type.has_rank() && operand.type.count() == Dim(0)) return ShapeData();
  return std::nullopt;
}

std::optional<Ints> known_ints(const NodeView& view, size_t input) {
  if (!view.has(input)) return std::nullopt;
  if (view.inputs[input].constant) return integers_of(*view.inputs[input].constant);
  const auto data = elements(view, input);
  return data ? numbers_of(*data) : std::nullopt;
}

std::optional<double> known_number(const NodeView& view, size_t input) {
  if (!view.has(input)) return std::nullopt;
  const Tensor* t = view.inputs[input].constant;
  if (t && t->count() == 1) return is_float(t->dtype()) ? t->number(0) : static_cast<double>(t->integer(0));
  const ShapeData* data = view.inputs[input].data;
  if (data && data->size() == 1 && (*data)[0].is_number()) return static_cast<double>((*data)[0].value());
  return std::nullopt;
}

std::optional<int64_t> known_length(const NodeView& view, size_t input) {
  if (!ranks_known(view, {input}) || view.rank(input) != 1) return std::nullopt;
  return view.type(input).dim(0).number();
}

// --- families ------------------------------------------------------------------------------------------------------

Result<void> same_shape_and_dtype(NodeView& view) {
  if (view.has(0)) set_output(view, 0, view.type(0));
  return {};
}

Result<void> infer_float_unary(NodeView& view) {
  TRY(require_dtype(view, 0, is_real_arithmetic, "f16, bf16, f32 or f64"));
  return same_shape_and_dtype(view);
}

Result<void> infer_number_unary(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a numeric dtype"));
  return same_shape_and_dtype(view);
}

Result<void> infer_signed_unary(NodeView& view) {
  TRY(require_dtype(view, 0, is_signed_number, "a signed numeric dtype"));
  return same_shape_and_dtype(view);
}

Result<void> infer_predicate(NodeView& view) {
  TRY(require_dtype(view, 0, is_float, "a float dtype"));
  TRY(same_shape_and_dtype(view));
  view.outputs[0].dtype = DType::boolean;
  return {};
}

namespace {
Result<void> infer_broadcast(NodeView& view, bool (*accepted)(DType), std::optional<DType> result) {
  DType dtype = DType::none;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    TRY(require_dtype(view, i, accepted, "a dtype that this op computes with"));
    if (i > 0) TRY(require_same_dtype(view, 0, i));
    if (dtype == DType::none) dtype = dtype_of(view, i);
  }
  auto shape = TRY(broadcast_inputs(view, 0, view.inputs.size()));
  Type type(result.value_or(dtype));
  type.shape = std::move(shape);
  set_output(view, 0, std::move(type));
  return {};
}
}  // namespace

Result<void> infer_binary(NodeView& view, bool (*accepted)(DType)) { return infer_broadcast(view, accepted, {}); }
Result<void> infer_comparison(NodeView& view, bool (*accepted)(DType)) { return infer_broadcast(view, accepted, DType::boolean); }
Result<void> infer_variadic(NodeView& view, bool (*accepted)(DType)) { return infer_broadcast(view, accepted, {}); }

void pass_data(NodeView& view) {
  if (auto data = elements(view, 0)) set_data(view, 0, std::move(*data));
}

namespace {
/// Position in a row-major tensor of shape `from` of element `i` of the broadcast shape `to`.
size_t broadcast_position(size_t i, const Sizes& from, const Sizes& to) {
  size_t position = 0, stride = 1;
  for (size_t k = 0; k < to.size(); ++k) {
    const size_t axis = to.size() - 1 - k;
    const size_t at = i % static_cast<size_t>(to[axis]);
    i /= static_cast<size_t>(to[axis]);
    if (k >= from.size()) continue;
    const size_t size = static_cast<size_t>(from[from.size() - 1 - k]);
    position += size == 1 ? 0 : at * stride;
    stride *= size;
  }
  return position;
}
}  // namespace

std::optional<ShapeData> broadcast_elements(const NodeView& view, size_t input, const DimList& to) {
  const auto data = elements(view, input);
  if (!data || !ranks_known(view, {input})) return std::nullopt;
  const auto from = numbers_of(*view.type(input).shape), sizes = numbers_of(to);
  if (!from || !sizes) return std::nullopt;
  size_t count = 1;
  for (int64_t s : *sizes) {
    count *= static_cast<size_t>(s);
    if (count > ir::kMaxShapeData) return std::nullopt;
  }
  ShapeData out;
  for (size_t i = 0; i < count; ++i) out.push_back((*data)[broadcast_position(i, *from, *sizes)]);
  return out;
}

void propagate(NodeView& view, const std::function<std::optional<Dim>(Dim, Dim)>& fn) {
  if (view.outputs.empty() || !view.outputs[0].has_rank()) return;
  const auto a = broadcast_elements(view, 0, *view.outputs[0].shape), b = broadcast_elements(view, 1, *view.outputs[0].shape);
  if (!a || !b) return;
  ShapeData out;
  for (size_t i = 0; i < a->size(); ++i) {
    auto v = fn((*a)[i], (*b)[i]);
    if (!v) return;
    out.push_back(*v);
  }
  set_data(view, 0, std::move(out));
}

void propagate(NodeView& view, const std::function<std::optional<Dim>(Dim)>& fn) {
  const auto a = elements(view, 0);
  if (!a) return;
  ShapeData out;
  for (Dim d : *a) {
    auto v = fn(d);
    if (!v) return;
    out.push_back(*v);
  }
  set_data(view, 0, std::move(out));
}

void pick_data(NodeView& view, const std::function<std::vector<int64_t>(const std::vector<int64_t>& index)>& source) {
  if (!ranks_known(view, {0}) || !view.outputs[0].has_rank()) return;
  const auto data = elements(view, 0);
  const auto from = numbers_of(*view.type(0).shape), to = numbers_of(*view.outputs[0].shape);
  const Dim count = view.outputs[0].count();
  if (!data || !from || !to || count.value() > static_cast<int64_t>(ir::kMaxShapeData)) return;
  ShapeData out;
  for (int64_t i = 0; i < count.value(); ++i) {
    std::vector<int64_t> at(to->size());
    int64_t rest = i, position = 0;
    for (size_t d = at.size(); d-- > 0; rest /= (*to)[d]) at[d] = rest % (*to)[d];
    const std::vector<int64_t> picked = source(at);
    for (size_t d = 0; d < picked.size(); ++d) position = position * (*from)[d] + picked[d];
    out.push_back((*data)[static_cast<size_t>(position)]);
  }
  set_data(view, 0, std::move(out));
}

}  // namespace tenon::ops
