// SPDX-License-Identifier: Apache-2.0
#include "partition/retype_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/trials.h"
#include "base/activity.h"
#include "ops/core/wider_types.h"

namespace tenon::partition {

namespace {

/// Why the backend refuses; none: it does not.
Result<std::optional<std::string>> refusal_of(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend) {
  const Activity activity(backend.name(), "was called for `supports` of a node");
  const auto supported = backend.supports(graph, node);
  if (supported) return std::nullopt;
  if (supported.error().code() != Code::not_supported) return std::unexpected(supported.error());
  return supported.error()->what;
}

/// Equal signatures have equal answers: small constants are part of the signature.
std::string signature(const ir::NodeView& view, const backend::Backend& backend) {
  std::string out = std::string(backend.name()) + " " + backend::call_text(view);
  for (const ir::Operand& o : view.inputs) {
    constexpr int64_t kSmall = 1024;
    if (!o.constant) continue;
    out += ";";
    if (o.constant->has_bytes() && o.constant->byte_size() <= kSmall)
      out.append(reinterpret_cast<const char*>(o.constant->data()), static_cast<size_t>(o.constant->byte_size()));
  }
  return out;
}

/// It may have other types: its operands are tensors, and their values decide. Not shape arithmetic, whose results are known, and is
/// nobody's work; nor a Cast, which another in front of it would only repeat.
bool may_change(const ir::Graph& graph, ir::NodeId node, const ir::NodeView& view) {
  if (!backend::has_only_tensors(view) || !ops::is_value_function(view) || graph.node(node).is("Cast")) return false;
  return !std::ranges::all_of(graph.node(node).outputs, [&](ir::ValueId v) { return !v || graph.value(v).data; });
}

bool fits(const Tensor& numbers, DType to) {
  if (is_integer(to)) {
    const int bits = bits_of(to) - is_signed(to);
    const int64_t most = static_cast<int64_t>((uint64_t{1} << bits) - 1), least = is_signed(to) ? -most - 1 : 0;
    for (int64_t i = 0; i < numbers.count(); ++i)
      if (numbers.integer(i) < least || numbers.integer(i) > most) return false;
    return true;
  }
  for (int64_t i = 0; i < numbers.count(); ++i) {
    const double x = numbers.number(i);
    if (std::isfinite(x) && !std::isfinite(decode_float(to, encode_float(to, x, false)))) return false;
  }
  return true;
}

/// Constants of the source are no surprise of a run: what does not fit is not narrowed.
bool constants_fit(const ir::Graph& graph, ir::NodeId node, const Retype& way) {
  return std::ranges::all_of(graph.node(node).inputs, [&](ir::ValueId v) {
    if (!v || !graph.value(v).is_constant()) return true;
    const ir::Constant& c = *graph.value(v).constant;
    const DType to = way.of(c.dtype);
    return is_lossless_cast(c.dtype, to) || (c.tensor() && fits(*c.tensor(), to));
  });
}

/// The results are as good as they have to be: those of another type keep their low bits, the rest their values.
bool keeps_enough(const ops::NodeView& narrow, const ops::NodeView& wide, const std::vector<bool>& low_bits) {
  const std::vector<ops::Preserved> kept = ops::preserved_in_wider(narrow, wide, low_bits);
  for (size_t k = 0; k < kept.size(); ++k)
    if (kept[k] < (narrow.outputs[k].dtype == wide.outputs[k].dtype ? ops::Preserved::value : ops::Preserved::low_bits)) return false;
  return true;
}

/// Operands in wider types whose low bits are enough, all of them at once.
std::vector<bool> operands_of_low_bits(const ops::NodeView& narrow, const ops::NodeView& wide) {
  std::vector<bool> out(wide.inputs.size());
  for (size_t k = 0; k < wide.explicit_inputs; ++k) {
    if (!wide.has(k) || !is_integer(wide.type(k).dtype) || wide.type(k).dtype == narrow.type(k).dtype) continue;
    out[k] = true;
    if (!keeps_enough(narrow, wide, out)) out[k] = false;
  }
  return out;
}

}  // namespace

/// Wider ones first: they lose nothing.
std::vector<DType> RetypeSearch::alternatives(DType type) const {
  std::vector<DType> out;
  for (DType wider : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u32, DType::u64})
    if (type != DType::boolean && is_float(type) == is_float(wider) && type != wider && is_lossless_cast(type, wider)) out.push_back(wider);
  for (const Narrowing& n : narrow_)
    if (n.from == type) out.push_back(n.to);
  return out;
}

/// All ways to change some of the types that its operands have, those with fewest changes first.
std::vector<Retype> RetypeSearch::candidates(const ir::NodeView& view) const {
  std::vector<Retype> out{{}};
  for (size_t k = 0; k < view.explicit_inputs; ++k) {
    const DType type = view.type(k).dtype;
    if (!view.has(k) || std::ranges::any_of(out, [&](const Retype& w) { return w.of(type) != type; })) continue;
    const size_t known = out.size();
    for (DType other : alternatives(type))
      for (size_t w = 0; w < known; ++w) {
        out.push_back(out[w]);
        out.back().types.emplace_back(type, other);
        out.back().is_lossy |= !is_lossless_cast(type, other);
      }
  }
  out.erase(out.begin());
  std::ranges::sort(out, {}, [](const Retype& w) { return std::tuple(w.is_lossy, w.types.size(), w.types); });
  return out;
}

Result<bool> RetypeSearch::runs(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend, Retype& way) const {
  const auto trial = backend::single_node_graph(graph, node);
  const ir::NodeId n = trial->first();
  const ir::NodeView original = trial->view(n);
  CastInserter(*trial, {}).cast_operands(n, way);
  if (!ir::infer(*trial, n)) return false;
  const ir::NodeView view = trial->view(n);
  const std::vector<ops::Preserved> kept =
      way.is_lossy ? std::vector(view.outputs.size(), ops::Preserved::value) : ops::preserved_in_wider(original, view);
  for (size_t k = 0; k < view.outputs.size(); ++k) {
    const DType declared = original.outputs[k].dtype, now = view.outputs[k].dtype;
    if (now != declared && now != way.of(declared)) return false;
    if (kept[k] < (now == declared ? ops::Preserved::value : ops::Preserved::low_bits)) return false;
    way.results.push_back(now);
    way.may_overflow.push_back(kept[k] != ops::Preserved::value);
  }
  if (!way.is_lossy) way.reads_low_bits_only = operands_of_low_bits(original, view);
  return !TRY(refusal_of(*trial, n, backend));
}

Result<std::optional<Retype>> RetypeSearch::search(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend) const {
  const ir::NodeView view = graph.view(node);
  if (!may_change(graph, node, view)) return std::nullopt;
  std::vector<Retype> all = candidates(view);
  if (all.empty()) return std::nullopt;
  const auto refusal = TRY(refusal_of(graph, node, backend));
  if (!refusal) return std::nullopt;
  for (Retype& way : all) {
    if (!TRY(runs(graph, node, backend, way))) continue;
    way.backend = backend.name();
    way.refusal = *refusal;
    return std::move(way);
  }
  return std::nullopt;
}

Result<std::optional<Retype>> RetypeSearch::find(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend) {
  const std::string key = signature(graph.view(node), backend);
  auto known = found_.find(key);
  if (known == found_.end()) known = found_.emplace(key, TRY(search(graph, node, backend))).first;
  if (known->second && !constants_fit(graph, node, *known->second)) return std::nullopt;
  return known->second;
}

}  // namespace tenon::partition
