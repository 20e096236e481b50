// SPDX-License-Identifier: Apache-2.0
#include "import/filled_inputs.h"

#include <fmt/format.h>

#include "ir/builder.h"
#include "ops/definition/plain_ops.h"

namespace tenon::import {
namespace {

using ir::ValueId;

/// Sizes of a run, i64 of rank 0.
struct Lengths {
  ValueId past, fresh, total;
};

/// The ranks that an input of a role may have.
std::pair<int, int> ranks_of(InputRole role) {
  switch (role) {
    case InputRole::mask: return {2, 2};
    case InputRole::positions: return {1, 2};
    default: return {0, 1};
  }
}

/// i64, of the rank where the role has several.
ValueId filled_value(ir::Builder& build, InputRole role, const Lengths& lengths, int rank) {
  const auto shaped = [&](ValueId number) { return rank == 0 ? number : build("Reshape", {number, build.ints({1})}); };
  switch (role) {
    case InputRole::mask: {
      const ValueId shape = build("Concat", {build.ints({1}), build("Reshape", {lengths.total, build.ints({1})})}, {{"axis", int64_t{0}}});
      return build("Expand", {build.scalar(DType::i64, 1), shape});
    }
    case InputRole::positions: {
      const ValueId places = build("Add", {ops::iota(build, lengths.fresh), lengths.past});
      return rank == 1 ? places : build("Unsqueeze", {places, build.ints({0})});
    }
    case InputRole::total_length: return shaped(lengths.total);
    case InputRole::last_place: return shaped(build("Sub", {lengths.total, build.scalar(DType::i64, 1)}));
    case InputRole::past_length: return shaped(lengths.past);
    case InputRole::cached_branch:
    case InputRole::kept_logits: return shaped(build.scalar(DType::i64, 1));
  }
  return {};
}

}  // namespace

Result<void> fill_inputs(ir::Graph& graph, const DecoderPorts& ports) {
  for (const CachePair& cache : ports.caches) graph.symbols().symbol("new", 1, *cache.names.capacity);
  ir::Builder build(graph, graph.first());
  const CachePair& first = ports.caches.front();
  Lengths lengths{.past = ops::size_of(build, graph.find_value(first.names.past), first.axis),
                  .fresh = ops::size_of(build, graph.find_value(ports.tokens), 1),
                  .total = {}};
  lengths.total = build("Add", {lengths.past, lengths.fresh});
  for (const auto& [name, role] : ports.filled) {
    const ValueId input = graph.find_value(name);
    const ir::Type type = graph.value(input).type;
    const auto [least, most] = ranks_of(role);
    if (!type.is_tensor() || !type.has_rank() || type.rank() < least || type.rank() > most)
      return fail(Code::not_supported, fmt::format("input '{}'", name), "not supported yet: this shape of an input that is filled in")
          .expected(least == most ? fmt::format("rank {}", least) : fmt::format("rank {} or {}", least, most))
          .found(type.text());
    const ValueId value = ops::cast_to(build, filled_value(build, role, lengths, type.rank()), type.dtype);
    TRY(build.status());
    graph.replace_all_uses(input, value);
    graph.erase_value(input);
  }
  return std::move(build.status());
}

}  // namespace tenon::import
