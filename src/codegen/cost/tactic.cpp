// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/tactic.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "codegen/cost/contract_cost.h"

namespace tenon::codegen {
namespace {

/// Of attention's two products: keys times vectors of queries, then queries times vectors of values.
Tile attention_tile(const Target& target) { return target.registers >= 32 ? Tile{8, 2} : Tile{6, 2}; }

/// Of attention: tasks that keep some threads busy to the end, and keys whose products outweigh what a part leaves and is joined from.
constexpr int64_t kTasksOfAttention = 8, kKeysOfAPart = 256;

int registers_of(Tile tile) { return tile.rows * tile.vectors + tile.vectors + 1; }

/// A number of a tactic, by the name that it has in text.
struct Field {
  std::string_view name;
  int64_t Tactic::* value;
  int64_t least, most;
};
constexpr Field kSplit{"split", &Tactic::split, 1, 1 << 20}, kBlock{"block", &Tactic::block, 64, 1 << 20},
    kUnroll{"unroll", &Tactic::unroll, 0, 16}, kLeast{"least", &Tactic::least, 0, 1 << 30}, kPanels{"panels", &Tactic::panels, 1, 1 << 20},
    kByRows{"by_rows", &Tactic::by_rows, 0, int64_t{1} << 40}, kDepth{"depth", &Tactic::depth, 0, 1 << 20},
    kPrefetch{"prefetch", &Tactic::prefetch, 0, 1 << 16}, kGrain{"grain", &Tactic::grain, 1, int64_t{1} << 40};
constexpr Field kOfContract[] = {kSplit, kPanels, kByRows, kDepth, kPrefetch, kGrain};
constexpr Field kOfAttention[] = {kBlock, kSplit, kLeast, kGrain};
constexpr Field kOfLoops[] = {kBlock, kUnroll, kLeast, kSplit, kGrain};

std::span<const Field> fields_of(GroupKind kind) {
  switch (kind) {
    case GroupKind::contract: return kOfContract;
    case GroupKind::attention: return kOfAttention;
    case GroupKind::nests: return kOfLoops;
    default: return {};
  }
}

bool has_tile(GroupKind kind) { return kind == GroupKind::contract || kind == GroupKind::attention; }

std::optional<int64_t> number_of(std::string_view text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

Error refused(std::string_view word, std::string what, std::string expected) {
  return fail(Code::bad_usage, "", std::move(what)).expected(std::move(expected)).found(std::string(word));
}

std::string names_of(GroupKind kind) {
  std::string out = has_tile(kind) ? "tile" : "lanes";
  for (const Field& f : fields_of(kind)) out += fmt::format(", {}", f.name);
  return out;
}

Result<void> set_tile(Tactic& tactic, std::string_view word, std::string_view value, const Target& target) {
  const size_t cross = std::min(value.find('x'), value.size() - 1);
  const auto rows = number_of(value.substr(0, cross)), vectors = number_of(value.substr(cross + 1));
  const bool fits = rows && vectors && *rows >= 1 && *rows <= 64 && *vectors >= 1 && *vectors <= 16 &&
                    registers_of({static_cast<int>(*rows), static_cast<int>(*vectors)}) <= target.registers;
  if (!fits)
    return refused(word, "no tile that the target has registers for",
                   fmt::format("tile=ROWSxVECTORS with ROWS * VECTORS + VECTORS + 1 <= {}", target.registers));
  tactic.tile = {static_cast<int>(*rows), static_cast<int>(*vectors)};
  return {};
}

Result<void> set_lanes(Tactic& tactic, std::string_view word, std::string_view value) {
  const auto axis = number_of(value);
  if (!axis || *axis < -1 || *axis > 64) return refused(word, "no number of an axis", "lanes=-1, or the number of an axis from 0");
  tactic.lanes = static_cast<int>(*axis);
  return {};
}

Result<void> set(Tactic& tactic, GroupKind kind, std::string_view word, const Target& target) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals), value = equals < word.size() ? word.substr(equals + 1) : "";
  if (name == "tile" && has_tile(kind)) return set_tile(tactic, word, value, target);
  if (name == "lanes" && kind == GroupKind::nests) return set_lanes(tactic, word, value);
  for (const Field& f : fields_of(kind)) {
    if (f.name != name) continue;
    const auto n = number_of(value);
    if (!n || *n < f.least || *n > f.most || (f.value == &Tactic::block && *n % 64 != 0))
      return refused(word, "not a number that this field may have",
                     fmt::format("{}={} to {}{}", name, f.least, f.most, f.value == &Tactic::block ? ", a multiple of 64" : ""));
    tactic.*f.value = *n;
    return {};
  }
  return refused(word, "this kind of group has no such field", names_of(kind));
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

/// Of sums that wait in a thread's scratch memory for the next products.
constexpr int64_t kMostWaitingBytes = 4 << 20;

/// What several fields must keep together.
Result<void> fits(const Tactic& tactic, GroupKind kind, const Target& target) {
  const int64_t panel = int64_t{tactic.tile.vectors} * target.lanes();
  // Each field is below 2^20 and a tile has at most 1024 sums.
  const int64_t sums = tactic.split * tactic.panels * tactic.tile.rows * panel;
  if (kind == GroupKind::contract && tactic.depth > 0 && sums * 4 > kMostWaitingBytes)
    return refused(text_of(tactic, kind), "with a depth, the sums of a task wait in memory, and these are too many",
                   fmt::format("split * panels * ROWS * {} of at most {}", panel, kMostWaitingBytes / 4));
  return {};
}

}  // namespace

Tactic default_loop_tactic() { return {.split = 16, .block = 2048, .unroll = 7, .least = 2048, .grain = 8192}; }

Tactic default_tactic(const Group& group, const Target& target) {
  switch (group.kind()) {
    case GroupKind::contract: return contract_tactic(group, target);
    // Scores of a block of keys leave room in the second-level cache for keys and values.
    case GroupKind::attention:
      return {.tile = attention_tile(target), .split = kTasksOfAttention, .block = 512, .least = kKeysOfAPart, .grain = kFlopsWorthAThread};
    default: return default_loop_tactic();
  }
}

std::string text_of(const Tactic& tactic, GroupKind kind) {
  std::string out = has_tile(kind)                                  ? fmt::format("tile={}x{}", tactic.tile.rows, tactic.tile.vectors)
                    : kind == GroupKind::nests && tactic.lanes >= 0 ? fmt::format("lanes={}", tactic.lanes)
                                                                    : "";
  for (const Field& f : fields_of(kind)) out += fmt::format("{}{}={}", out.empty() ? "" : " ", f.name, tactic.*f.value);
  return out;
}

Result<Tactic> changed(Tactic tactic, GroupKind kind, std::string_view text, const Target& target) {
  TRY(each_word(text, [&](std::string_view word) { return set(tactic, kind, word, target); }));
  TRY(fits(tactic, kind, target));
  return tactic;
}

bool has_field(GroupKind kind, std::string_view name) {
  return (name == "tile" && has_tile(kind)) || (name == "lanes" && kind == GroupKind::nests) ||
         std::ranges::any_of(fields_of(kind), [&](const Field& f) { return f.name == name; });
}

std::string fields_of(std::string_view text, GroupKind kind) {
  std::string out;
  (void)each_word(text, [&](std::string_view word) -> Result<void> {
    if (has_field(kind, word.substr(0, word.find('=')))) out += std::string(word) + " ";
    return {};
  });
  return out;
}

}  // namespace tenon::codegen
