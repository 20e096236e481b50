// SPDX-License-Identifier: Apache-2.0
#include "partition/casts.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/constant.h"

namespace tenon::partition {

namespace {

constexpr std::string_view kLossyNote = " (as narrow allows: what does not fit changes)";

std::shared_ptr<const ir::Provenance> with_retyping(ir::Provenance provenance, ir::Retyping retyping) {
  provenance.retyping = std::make_shared<const ir::Retyping>(std::move(retyping));
  return std::make_shared<const ir::Provenance>(std::move(provenance));
}

/// Lists the type changes, for people.
std::string text_of_types(const Retype& to) {
  std::string out;
  for (const auto& [from, wanted] : to.types)
    out += fmt::format("{}{} in place of {}", out.empty() ? "" : ", ", name_of(wanted), name_of(from));
  return out;
}

}  // namespace

DType Retype::of(DType from) const {
  const auto found = std::ranges::find(types, from, &std::pair<DType, DType>::first);
  return found == types.end() ? from : found->second;
}

std::string CastInserter::name_of(ir::NodeId node) const {
  const auto found = names_.find(node);
  return found == names_.end() ? graph_.node(node).name : found->second;
}

std::string CastInserter::free_name(const std::string& stem) {
  if (taken_.empty())
    for (const auto& [node, name] : names_) taken_.insert(name);
  std::string out = stem;
  for (int k = 2; !taken_.insert(out).second; ++k) out = fmt::format("{}_{}", stem, k);
  return out;
}

ir::ValueId CastInserter::cast(ir::ValueId value, DType to, ir::NodeId before, ir::NodeId named_after, const std::string& backend,
                               std::string reason) {
  ir::Attributes attributes;
  attributes.set("to", static_cast<int64_t>(to));
  const ir::NodeId node = graph_.insert(*graph_.ops().find("", "Cast"), {value}, 1, std::move(attributes), before);
  const auto inferred = ir::infer(graph_, node);
  TENON_ASSERT(inferred);
  const std::string& known = graph_.value(value).name;
  graph_.set_name(node, free_name(fmt::format("{}.{}", known.empty() ? name_of(named_after) : known, tenon::name_of(to))));
  graph_.set_provenance(node, with_retyping({.rule = {}, .sources = {name_of(named_after)}}, {backend, {}, std::move(reason)}));
  return graph_.node(node).outputs[0];
}

/// Where the value is the result of a Cast of the source model, and neither that Cast nor one to `to` loses values: the operand of that
/// Cast. Else the value itself.
ir::ValueId CastInserter::operand_of_lossless_cast(ir::ValueId value, DType to) {
  const ir::NodeId producer = graph_.value(value).producer;
  if (!producer || !graph_.node(producer).is("Cast") || graph_.node(producer).retyping()) return value;
  const ir::ValueId source = graph_.node(producer).inputs[0];
  const DType from = graph_.value(source).type.dtype;
  if (!is_lossless_cast(from, graph_.value(value).type.dtype) || !is_lossless_cast(from, to)) return value;
  bypassed_casts_.push_back(producer);
  return source;
}

ir::ValueId CastInserter::cast_value(ir::ValueId value, DType to, ir::NodeId reader, const Retype& retype) {
  const auto [at, is_new] = cast_values_.try_emplace({value, to, retype.backend});
  if (!is_new) return at->second;
  const ir::Value& v = graph_.value(value);
  if (v.is_constant()) return at->second = graph_.add_constant(ir::cast(v.constant, to), v.name.empty() ? "" : graph_.unique_name(v.name));
  const ir::ValueId source = operand_of_lossless_cast(value, to);
  const DType from = graph_.value(source).type.dtype;
  if (from == to) return at->second = source;
  const std::string text = fmt::format("brings {} to {}, which {} has{}", tenon::name_of(from), tenon::name_of(to), retype.backend,
                                       is_lossless_cast(from, to) ? "" : kLossyNote);
  return at->second = cast(source, to, reader, reader, retype.backend, text);
}

bool CastInserter::cast_operands(ir::NodeId node, const Retype& to) {
  bool may_overflow = false;
  for (uint32_t slot = 0; slot < graph_.node(node).explicit_inputs; ++slot) {
    const ir::ValueId value = graph_.node(node).inputs[slot];
    if (!value) continue;
    const DType wanted = to.of(graph_.value(value).type.dtype);
    if (wanted == graph_.value(value).type.dtype) continue;
    const auto overflowed = overflowed_.find({value, wanted, to.backend});
    const bool has_enough_bits = overflowed != overflowed_.end() && slot < to.reads_low_bits_only.size() && to.reads_low_bits_only[slot];
    may_overflow |= has_enough_bits;
    graph_.set_operand(node, slot, has_enough_bits ? overflowed->second : cast_value(value, wanted, node, to));
  }
  return may_overflow;
}

void CastInserter::cast_result_back(ir::NodeId node, size_t k, const Retype& retype, bool may_overflow) {
  const ir::ValueId result = graph_.node(node).outputs[k];
  const DType to = retype.results[k];
  ir::Type type = graph_.value(result).type;
  const DType declared = type.dtype;
  const std::optional<ir::ShapeData> data = graph_.value(result).data;
  const std::string name = graph_.value(result).name;
  type.dtype = to;
  graph_.set_type(result, std::move(type));
  const ir::ValueId cast_back = cast(result, declared, graph_.next(node), node, retype.backend,
                                     fmt::format("brings {} back to {}", tenon::name_of(to), tenon::name_of(declared)));
  const ir::NodeId cast_node = graph_.value(cast_back).producer;
  graph_.set_data(cast_back, data);
  const bool replaced = graph_.replace_all_uses(result, cast_back, cast_node);
  TENON_ASSERT(replaced);
  if (!name.empty()) {
    graph_.transfer_name(result, cast_back);
    graph_.set_name(result, graph_.unique_name(fmt::format("{}.{}", name, tenon::name_of(to))));
  }
  (may_overflow || retype.may_overflow[k] ? overflowed_ : cast_values_)[{cast_back, to, retype.backend}] = result;
  casts_back_[cast_back] = cast_node;
}

void CastInserter::retype(ir::NodeId node, const Retype& to) {
  const bool may_overflow = cast_operands(node, to);
  for (size_t k = 0; k < to.results.size(); ++k) {
    const ir::ValueId result = graph_.node(node).outputs[k];
    if (result && graph_.value(result).type.dtype != to.results[k]) cast_result_back(node, k, to, may_overflow);
  }
  const ir::Node& n = graph_.node(node);
  graph_.set_provenance(node,
                        with_retyping(n.provenance ? *n.provenance : ir::Provenance(),
                                      {to.backend, to.refusal,
                                       fmt::format("{} runs it with {}{}", to.backend, text_of_types(to), to.is_lossy ? kLossyNote : "")}));
}

void CastInserter::finish() {
  for (const auto& [value, node] : casts_back_)
    if (graph_.value(value).uses.empty()) graph_.erase(node);
  for (ir::NodeId node : bypassed_casts_)
    if (graph_.alive(node) && graph_.value(graph_.node(node).outputs[0]).uses.empty()) graph_.erase(node);
}

}  // namespace tenon::partition
