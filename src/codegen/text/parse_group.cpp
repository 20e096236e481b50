// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "codegen/analysis/contraction.h"
#include "codegen/plan/text.h"
#include "codegen/text/plan_reader.h"

namespace tenon::codegen {

namespace {

using ir::Token;

constexpr int64_t kMostEpilogueColumns = 1 << 20;

class GroupReader {
 public:
  GroupReader(PlanReader& reader, Plan& plan) : reader_(reader), lexer_(reader.lexer), plan_(plan) {}

  Result<Group> run() {
    const Token word = lexer_.peek();
    group_.set_kind(static_cast<GroupKind>(TRY(reader_.one_of(kGroupWords, "a kind of group"))));
    TRY(std::visit([&](auto& payload) { return read(payload); }, group_.payload));
    if (lexer_.take_if("inputs")) group_.inputs = TRY(reader_.arrays(plan_, true));
    if (lexer_.take_if("outputs")) group_.outputs = TRY(reader_.arrays(plan_, true));
    if (lexer_.peek().is("region") || lexer_.peek().is("joined")) TRY(region());
    while (lexer_.peek().is("for")) group_.nests.push_back(TRY(parse_nest(reader_, plan_)));
    if (lexer_.take_if("then")) TRY(epilogue());
    TRY(check(word));
    return std::move(group_);
  }

 private:
  // --- what groups of one kind have

  Result<void> read(LoopGroup& g) {
    if (lexer_.take_if("outer")) g.outer = static_cast<int>(TRY(reader_.integer("the number of shared axes", 1, PlanReader::kMostAxes)));
    if (!lexer_.take_if("of")) return {};
    TRY(lexer_.expect("product", "a group of loops"));
    g.auxiliary = true;
    return {};
  }

  Result<void> read(ContractGroup& g) {
    if (lexer_.take_if("constant_bytes")) g.constant_bytes_per_iteration = TRY(reader_.integer("bytes of constants", 0, INT64_MAX));
    if (lexer_.take_if("panels")) g.panels = TRY(reader_.array(plan_));
    if (lexer_.take_if("scales")) g.scales = TRY(reader_.array(plan_));
    if (!lexer_.take_if("rounded")) return {};
    g.rounded.values = TRY(reader_.array(plan_));
    if (!lexer_.take_if("by")) return {};
    g.rounded.run = static_cast<int>(TRY(reader_.integer("neighbours with one scale", 8, 32)));
    g.rounded.scales = TRY(reader_.array(plan_));
    TRY(lexer_.expect(",", "the scales and sums of rounded rows"));
    g.rounded.sums = TRY(reader_.array(plan_));
    return {};
  }

  Result<void> read(AttentionGroup& g) {
    TRY(lexer_.expect("scale", "an attention"));
    g.scale = TRY(reader_.number("the scale of an attention"));
    if (lexer_.take_if("masked"))
      g.masked_rows = static_cast<ops::MaskedRows>(TRY(reader_.one_of(kMaskedRowsWords, "a kind of masked rows")));
    if (lexer_.take_if("longest")) g.longest_sequence = TRY(reader_.dim("the longest sequence"));
    if (lexer_.take_if("value_scale")) g.value_scale = static_cast<int>(TRY(reader_.integer("the number of a load", 3, INT32_MAX)));
    if (!lexer_.take_if("parts")) return {};
    g.part_sums = TRY(reader_.array(plan_));
    TRY(lexer_.expect(",", "the parts of an attention"));
    g.part_weights = TRY(reader_.array(plan_));
    return {};
  }

  Result<void> read(SegmentGroup& g) {
    const Token number = lexer_.peek();
    g.segment = static_cast<uint32_t>(TRY(reader_.integer("the number of a segment", 0, UINT32_MAX)));
    TRY(lexer_.expect("of", "a segment"));
    std::string backend = TRY(reader_.values.name("a backend"));
    if (g.segment > plan_.segments.size() + 4096) return lexer_.error(number, "segments are not numbered from 0 on");
    if (plan_.segments.size() <= g.segment) plan_.segments.resize(g.segment + 1);
    plan_.segments[g.segment].backend = std::move(backend);
    return {};
  }

  Result<void> read(SizesGroup& g) {
    TRY(lexer_.expect("of", "a group of sizes"));
    g.symbols = TRY(reader_.symbol_list());
    return {};
  }

  Result<void> read(ControlGroup&) { return {}; }
  Result<void> read(PackedRowsGroup&) { return {}; }

  Result<void> read(CheckGroup& g) {
    g.limit = TRY(reader_.limit(plan_));
    return {};
  }

  // --- the lines below

  Result<void> region() {
    Region region;
    region.joined = lexer_.take().is("joined");
    TRY(lexer_.expect("by", "a region"));
    TRY(lexer_.expect("axes", "a region"));
    while (lexer_.peek().kind == Token::Kind::number && region.axes.size() < PlanReader::kMostAxes)
      region.axes.push_back(static_cast<int>(TRY(reader_.integer("an axis of a region", 0, PlanReader::kMostAxes - 1))));
    TRY(lexer_.expect(",", "a region"));
    TRY(lexer_.expect("units", "a region"));
    region.units = TRY(reader_.dim("the units of a region"));
    TRY(lexer_.expect(",", "a region"));
    TRY(lexer_.expect("parts", "a region"));
    region.parts = TRY(reader_.dim("the parts of a region"));
    group_.region = std::move(region);
    return {};
  }

  Result<void> epilogue() {
    const Token start = lexer_.peek();
    Epilogue out;
    if (lexer_.take_if("of")) {
      const Token read = lexer_.take();
      out.accumulator = -1;
      for (int k = 0; k < static_cast<int>(PlanReader::kMostAxes); ++k)
        if (read.is(fmt::format("x{}", k))) out.accumulator = k;
    }
    if (lexer_.take_if("in")) {
      out.columns = static_cast<int>(TRY(reader_.integer("a number of columns", 1, kMostEpilogueColumns)));
      TRY(lexer_.expect("columns", "an epilogue"));
    }
    out.map = TRY(parse_nest(reader_, plan_));
    if (out.accumulator < 0 || out.accumulator >= static_cast<int>(out.map.accesses.size()))
      return lexer_.error(start, "an epilogue that reads no result").expected("`of` and one of its loads");
    group_.epilogue = std::move(out);
    return {};
  }

  // --- what lowering relies on

  Result<void> check(const Token& word) {
    const GroupKind kind = group_.kind();
    const bool one = kind == GroupKind::contract || kind == GroupKind::attention;
    const bool loops = one || kind == GroupKind::nests;
    if (group_.nests.empty() == loops || (one && group_.nests.size() != 1))
      return lexer_.error(word, "a group with a wrong number of nests")
          .expected(one     ? "one"
                    : loops ? "at least one"
                            : "none")
          .found(fmt::format("{}", group_.nests.size()));
    if (group_.epilogue && group_.nests.size() != 1)
      return lexer_.error(word, "an epilogue of a group that can have none").expected("contract, attention, or one nest");
    if (kind == GroupKind::check && (group_.inputs.size() != 2 || !all_there(group_.inputs)))
      return lexer_.error(word, "a check of something else").expected("two inputs, the smallest and the largest index");
    if (kind == GroupKind::attention && group_.as<AttentionGroup>().longest_sequence &&
        (group_.inputs.size() != 2 || !all_there(group_.inputs)))
      return lexer_.error(word, "packed sequences without their starts").expected("two inputs");
    for (const Nest& n : group_.nests)
      if (group_.outer() > static_cast<int>(n.axes.size()) || !has_axes_of_region(n))
        return lexer_.error(word, "axes that its nests lack").expected(fmt::format("at most {}", n.axes.size()));
    if (kind != GroupKind::contract || (group_.nests[0].outputs.size() == 1 && recompute_roles(group_, plan_))) return {};
    return lexer_.error(word, "a contraction that is no sum of products");
  }

  static bool all_there(const std::vector<ArrayId>& list) {
    return std::ranges::all_of(list, [](ArrayId a) { return a >= 0; });
  }

  bool has_axes_of_region(const Nest& n) const {
    return !group_.region || std::ranges::all_of(group_.region->axes, [&](int x) { return x < static_cast<int>(n.axes.size()); });
  }

  PlanReader& reader_;
  ir::Lexer& lexer_;
  Plan& plan_;
  Group group_;
};

}  // namespace

Result<Group> parse_group(PlanReader& reader, Plan& plan) { return GroupReader(reader, plan).run(); }

}  // namespace tenon::codegen
