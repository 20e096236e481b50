// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/tactic.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "codegen/cost/contract_cost.h"

namespace tenon::codegen {
namespace {

/// The tile of both products of attention: keys times vectors of queries, then queries times vectors of values.
Tile attention_tile(const Target& target) { return target.registers >= 32 ? Tile{8, 2} : Tile{6, 2}; }

/// Of attention: enough tasks for some threads, and the keys of a part whose products take longer than storing and joining its results.
constexpr int64_t kTasksOfAttention = 8, kKeysOfAPart = 256;
/// Of attention in plans that sum in one order: with at most so many queries, transposing keys is faster than a mostly empty vector of
/// queries.
constexpr int64_t kMaxFewQueries = 3;

int registers_of(Tile tile) { return tile.rows * tile.vectors + tile.vectors + 1; }

/// A number of a tactic, by the name that it has in text.
template <class T>
struct Field {
  std::string_view name;
  int64_t T::* value;
  int64_t min, max, multiple = 1;
};

constexpr int64_t kManyOps = int64_t{1} << 40;
constexpr Field<LoopTactic> kLoopFields[] = {{"block", &LoopTactic::block, 64, 1 << 20, 64},
                                             {"unroll", &LoopTactic::unroll, 0, 16},
                                             {"least", &LoopTactic::least, 0, 1 << 30},
                                             {"split", &LoopTactic::split, 1, 1 << 20},
                                             {"grain", &LoopTactic::grain, 1, kManyOps}};
constexpr Field<ContractTactic> kContractFields[] = {
    {"split", &ContractTactic::split, 1, 1 << 20},       {"panels", &ContractTactic::panels, 1, 1 << 20},
    {"by_rows", &ContractTactic::by_rows, 0, kManyOps},  {"depth", &ContractTactic::depth, 0, 1 << 20},
    {"prefetch", &ContractTactic::prefetch, 0, 1 << 16}, {"grain", &ContractTactic::grain, 1, kManyOps}};
constexpr Field<AttentionTactic> kAttentionFields[] = {{"block", &AttentionTactic::block, 64, 1 << 20, 64},
                                                       {"split", &AttentionTactic::split, 1, 1 << 20},
                                                       {"least", &AttentionTactic::least, 0, 1 << 30},
                                                       {"grain", &AttentionTactic::grain, 1, kManyOps},
                                                       {"few", &AttentionTactic::few, 0, 1 << 20}};

std::span<const Field<std::monostate>> fields_of(const std::monostate&) { return {}; }
std::span<const Field<LoopTactic>> fields_of(const LoopTactic&) { return kLoopFields; }
std::span<const Field<ContractTactic>> fields_of(const ContractTactic&) { return kContractFields; }
std::span<const Field<AttentionTactic>> fields_of(const AttentionTactic&) { return kAttentionFields; }

template <class T>
constexpr bool kHasTile = requires(T t) { t.tile; };
template <class T>
constexpr bool kHasLanes = requires(T t) { t.lanes; };

std::optional<int64_t> number_of(std::string_view text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

Error refused(std::string_view word, std::string what, std::string expected) {
  return fail(Code::bad_usage, "", std::move(what)).expected(std::move(expected)).found(std::string(word));
}

template <class T>
std::string names_of(const T& tactic) {
  std::string out = kHasTile<T> ? "tile" : kHasLanes<T> ? "lanes" : "no field: the step has no kernel";
  for (const auto& f : fields_of(tactic)) out += fmt::format(", {}", f.name);
  return out;
}

Result<void> set_tile(Tile& tile, std::string_view word, std::string_view value, const Target& target) {
  const size_t cross = std::min(value.find('x'), value.size() - 1);
  const auto rows = number_of(value.substr(0, cross)), vectors = number_of(value.substr(cross + 1));
  const bool fits = rows && vectors && *rows >= 1 && *rows <= 64 && *vectors >= 1 && *vectors <= 16 &&
                    registers_of({static_cast<int>(*rows), static_cast<int>(*vectors)}) <= target.registers;
  if (!fits)
    return refused(word, "no tile that the target has registers for",
                   fmt::format("tile=ROWSxVECTORS with ROWS * VECTORS + VECTORS + 1 <= {}", target.registers));
  tile = {static_cast<int>(*rows), static_cast<int>(*vectors)};
  return {};
}

Result<void> set_lanes(int& lanes, std::string_view word, std::string_view value) {
  const auto axis = number_of(value);
  if (!axis || *axis < -1 || *axis > 64) return refused(word, "no number of an axis", "lanes=-1, or the number of an axis from 0");
  lanes = static_cast<int>(*axis);
  return {};
}

template <class T>
Result<void> set(T& tactic, std::string_view word, const Target& target) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals), value = equals < word.size() ? word.substr(equals + 1) : "";
  if constexpr (kHasTile<T>)
    if (name == "tile") return set_tile(tactic.tile, word, value, target);
  if constexpr (kHasLanes<T>)
    if (name == "lanes") return set_lanes(tactic.lanes, word, value);
  for (const auto& f : fields_of(tactic)) {
    if (f.name != name) continue;
    const auto n = number_of(value);
    if (!n || *n < f.min || *n > f.max || *n % f.multiple != 0)
      return refused(
          word, "not a number that this field may have",
          fmt::format("{}={} to {}{}", name, f.min, f.max, f.multiple == 1 ? "" : fmt::format(", a multiple of {}", f.multiple)));
    tactic.*f.value = *n;
    return {};
  }
  return refused(word, "this kind of group has no such field", names_of(tactic));
}

/// Calls `take` with each word.
Result<void> each_word(std::string_view text, auto&& take) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    if (end > at) TRY(take(text.substr(at, end - at)));
    at = end + 1;
  }
  return {};
}

/// Most bytes of sums that a task keeps in scratch memory between blocks of the depth.
constexpr int64_t kMaxScratchSums = 4 << 20;

/// Checks limits on several fields together.
Result<void> check_fields_together(const Tactic& tactic, const Target& target) {
  const auto* product = std::get_if<ContractTactic>(&tactic);
  if (!product || product->depth == 0) return {};
  const int64_t panel = int64_t{product->tile.vectors} * target.lanes();
  // Each field is below 2^20 and a tile has at most 1024 sums.
  const int64_t sums = product->split * product->panels * product->tile.rows * panel;
  if (sums * 4 > kMaxScratchSums)
    return refused(text_of(tactic), "with a depth, the sums of a task wait in memory, and these are too many",
                   fmt::format("split * panels * ROWS * {} of at most {}", panel, kMaxScratchSums / 4));
  return {};
}

bool has_field(const Tactic& tactic, std::string_view name) {
  const auto has = [&]<class T>(const T& of) {
    return (name == "tile" && kHasTile<T>) || (name == "lanes" && kHasLanes<T>) ||
           std::ranges::any_of(fields_of(of), [&](const auto& f) { return f.name == name; });
  };
  return std::visit(has, tactic);
}

}  // namespace

LoopTactic default_loop_tactic() { return {.block = 2048, .unroll = 7, .least = 2048, .split = 16, .grain = 8192}; }

Tactic default_tactic(const Group& group, const Target& target) {
  switch (group.kind()) {
    case GroupKind::nests: return default_loop_tactic();
    case GroupKind::contract: return contract_tactic(group, target);
    // Scores of a block of keys leave room in the second-level cache for keys and values.
    case GroupKind::attention:
      return AttentionTactic{.tile = attention_tile(target),
                             .block = 512,
                             .split = kTasksOfAttention,
                             .least = kKeysOfAPart,
                             .grain = kFlopsWorthAThread,
                             .few = kMaxFewQueries};
    default: return {};
  }
}

std::string text_of(const Tactic& tactic) {
  const auto text = []<class T>(const T& of) {
    std::string out;
    if constexpr (kHasTile<T>) out = fmt::format("tile={}x{}", of.tile.rows, of.tile.vectors);
    if constexpr (kHasLanes<T>) out = of.lanes >= 0 ? fmt::format("lanes={}", of.lanes) : "";
    for (const auto& f : fields_of(of)) out += fmt::format("{}{}={}", out.empty() ? "" : " ", f.name, of.*f.value);
    return out;
  };
  return std::visit(text, tactic);
}

Result<Tactic> override_fields(Tactic tactic, std::string_view text, const Target& target) {
  TRY(each_word(text, [&](std::string_view word) { return std::visit([&](auto& of) { return set(of, word, target); }, tactic); }));
  TRY(check_fields_together(tactic, target));
  return tactic;
}

std::string known_fields(std::string_view text, const Tactic& tactic) {
  std::string out;
  (void)each_word(text, [&](std::string_view word) -> Result<void> {
    if (has_field(tactic, word.substr(0, word.find('=')))) out += std::string(word) + " ";
    return {};
  });
  return out;
}

}  // namespace tenon::codegen
