// SPDX-License-Identifier: Apache-2.0
// Creators of TensorRT-LLM whose plugin is an op of Tenon: what they declare, and what is said of fields that cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "ops/core/op.h"
#include "ops/creators/op_creator.h"

namespace tenon::ops {
namespace {

using Fields = std::vector<plugin::Field>;

const OpCreator& attention() { return *find_op_creator("tensorrt_llm", "GPTAttention", "1"); }

plugin::Field i32(const char* name, int32_t value) { return *plugin::scalar_field(name, TENON_FIELD_I32, value); }
plugin::Field i8(const char* name, int32_t value) { return *plugin::scalar_field(name, TENON_FIELD_I8, value); }
plugin::Field f32(const char* name, double value) { return *plugin::scalar_field(name, TENON_FIELD_F32, value); }

/// The fields that must be given, with `more` in place of those of its names.
Fields fields(const Fields& more = {}) {
  Fields out{i32("num_heads", 4), i32("num_kv_heads", 2), i32("head_size", 8), i8("remove_input_padding", 0), i32("mask_type", 1)};
  for (const plugin::Field& field : more) {
    const auto same = std::ranges::find(out, field.name, &plugin::Field::name);
    if (same == out.end()) out.push_back(field);
    else *same = field;
  }
  return out;
}

Diagnostic refused(const Fields& given) {
  const auto made = create_node(attention(), given);
  return made ? Diagnostic{Code::internal, "", "no error", "", "", ""} : *made.error();
}

TEST(OpCreators, HaveTheOperandsAndResultsOfTheirOps) {
  for (const OpCreator& creator : op_creators()) {
    const ir::Op* const op = table().find("tenon", creator.op);
    ASSERT_NE(op, nullptr) << creator.op;
    const auto check = [](const auto& specs, const std::vector<tenon_port>& ports) {
      size_t k = 0;
      for (std::string_view spec : specs) {
        ASSERT_LT(k, ports.size());
        EXPECT_EQ(spec, std::string(ports[k].name) + (ports[k].optional ? "?" : ""));
        ++k;
      }
      EXPECT_EQ(k, ports.size());
    };
    check(def_of(*op).inputs, creator.declared.operands);
    check(def_of(*op).outputs, creator.declared.results);
    EXPECT_EQ(creator.only_value.size(), creator.declared.fields.size());
  }
  EXPECT_EQ(find_op_creator("tensorrt_llm", "GPTAttention", "2"), nullptr);
}

TEST(OpCreators, MakeTheAttributesOfTheOp) {
  const auto made =
      create_node(attention(), fields({f32("q_scaling", 2), i8("qkv_bias_enabled", 1), i32("type_id", 7), i32("use_cache", 0)}));
  ASSERT_TRUE(made) << made.error().text();
  const ir::Attributes& a = made->attributes;
  EXPECT_EQ(a.integer("num_heads", 0), 4);
  EXPECT_EQ(a.integer("num_kv_heads", 0), 2);
  EXPECT_EQ(a.integer("head_size", 0), 8);
  EXPECT_EQ(a.integer("causal", -1), 1);
  EXPECT_EQ(a.integer("packed", -1), 0);
  EXPECT_EQ(a.number("q_scaling", 0), 2);
  EXPECT_EQ(made->outputs, 1u);
  EXPECT_EQ(made->dtype, DType::bf16);
  EXPECT_EQ(made->operands, (std::vector<std::optional<bool>>{true, std::nullopt, std::nullopt, true, std::nullopt, false, false, false}));
}

TEST(OpCreators, MakeRotationsWindowsAndPages) {
  const auto made = create_node(
      attention(),
      fields({i8("remove_input_padding", 1), i32("mask_type", 2), i8("position_embedding_type", 2), i32("rotary_embedding_dim", 6),
              f32("rotary_embedding_base", 500000), i8("rotary_embedding_scale_type", 1), f32("rotary_embedding_scale", 4),
              f32("attn_logit_softcapping_scale", 30), i8("use_logn_scaling", 1), i32("paged_kv_cache", 1), i32("tokens_per_block", 64)}));
  ASSERT_TRUE(made) << made.error().text();
  const ir::Attributes& a = made->attributes;
  EXPECT_EQ(a.integer("causal", -1), 1);
  EXPECT_EQ(a.integer("position_embedding_type", -1), 2);
  EXPECT_EQ(a.integer("rotary_embedding_dim", -1), 6);
  EXPECT_EQ(a.number("rotary_embedding_base", 0), 500000);
  EXPECT_EQ(a.integer("rotary_embedding_scale_type", -1), 1);
  EXPECT_EQ(a.number("rotary_embedding_scale", 0), 4);
  EXPECT_EQ(a.number("attn_logit_softcapping_scale", 0), 30);
  EXPECT_EQ(a.integer("tokens_per_block", -1), 64);
  EXPECT_EQ(made->operands, (std::vector<std::optional<bool>>{true, true, true, false, true, true, true, true}));
}

TEST(OpCreators, TakeDefaultsOfWhatMayBeMissing) {
  const auto made = create_node(attention(), fields({i8("remove_input_padding", 1), i32("mask_type", 0)}));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->attributes.integer("causal", -1), 0);
  EXPECT_EQ(made->attributes.integer("packed", -1), 1);
  EXPECT_EQ(made->attributes.number("q_scaling", 0), 1);
  EXPECT_EQ(made->outputs, 2u);
  EXPECT_EQ(made->dtype, DType::none);
  EXPECT_EQ(made->operands[3], false);
}

TEST(OpCreators, TakeListsOfAnyLength) {
  EXPECT_TRUE(create_node(attention(), fields({{"cp_group", TENON_FIELD_I32, 2, std::string(8, '\0')}})));
  EXPECT_TRUE(create_node(attention(), fields({{"cp_group", TENON_FIELD_I32, 0, {}}})));
}

TEST(OpCreators, ReportAllFaultsInOneError) {
  Fields given =
      fields({i32("num_head", 4), i8("num_heads", 4), i32("head_size", 0), {"layer_idx", TENON_FIELD_I32, 2, std::string(8, '\0')}});
  given.push_back(i8("qkv_bias_enabled", 2));
  given.push_back(i8("qkv_bias_enabled", 1));
  std::erase_if(given, [](const plugin::Field& f) { return f.name == "mask_type"; });
  const Diagnostic d = refused(given);
  EXPECT_EQ(d.code, Code::bad_attribute);
  EXPECT_NE(d.place.find("tensorrt_llm::GPTAttention, version 1"), std::string::npos) << d.place;
  for (const char* text : {"there is no field 'num_head', did you mean 'num_heads'?", "field 'num_heads' (i32) is of type i8",
                           "field 'head_size' (i32) = 0 is not in 1 .. 1048576", "field 'layer_idx' (i32) has 2 elements, not 1",
                           "field 'qkv_bias_enabled' is given twice", "field 'qkv_bias_enabled' (i8) = 2 is not in 0 .. 1",
                           "field 'mask_type' (i32) is missing"})
    EXPECT_NE(d.found.find(text), std::string::npos) << text << " in\n" << d.found;
  EXPECT_NE(d.expected.find("tenon plugin list"), std::string::npos);
  EXPECT_EQ(d.advice, "correct the fields");
}

TEST(OpCreators, RefuseWhatTheOriginalHasWithTheReason) {
  struct Case {
    Fields given;
    const char* text;
  };
  for (const auto& [given, text] : std::vector<Case>{
           {{i32("mask_type", 3)}, "field 'mask_type' (i32) = 3: not supported yet, masks are 0 (padding), 1 (causal) and 2"},
           {{i8("position_embedding_type", 4)}, "positions are 0 (learned_absolute), 1 (rope_gptj) and 2 (rope_gpt_neox)"},
           {{i8("rotary_embedding_scale_type", 2)}, "scales of positions are 0 (none) and 1 (linear)"},
           {{i32("paged_kv_cache", 1)}, "paged_kv_cache = 1 with remove_input_padding = 0: not supported yet"},
           {{i32("kv_cache_quant_mode", 64)}, "k and v are kept in the type of qkv"},
           {{i32("tp_size", 2), i32("tp_rank", 1)}, "field 'tp_rank' (i32) = 1: not supported yet, one process computes all heads"},
           {{i32("type_id", 2)}, "types are 0 (f32), 1 (f16) and 7 (bf16)"},
           {{i32("mask_type", 0)}, "padding is not masked"}}) {
    const Diagnostic d = refused(fields(given));
    EXPECT_EQ(d.code, Code::not_supported) << text;
    EXPECT_NE(d.found.find(text), std::string::npos) << text << " in\n" << d.found;
  }
  EXPECT_EQ(refused(fields({i32("mask_type", 3), i32("num_heads", 0)})).code, Code::bad_attribute) << "one fault that is none of these";
}

TEST(OpCreators, RefuseFieldsThatDoNotFitTogether) {
  EXPECT_NE(refused(fields({i32("num_heads", 3)})).found.find("num_heads = 3 is no multiple of num_kv_heads = 2"), std::string::npos);
  for (const double scaling : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_NE(refused(fields({f32("q_scaling", scaling)})).found.find("is not above 0"), std::string::npos) << scaling;
  const plugin::Field rope = i8("position_embedding_type", 1), dim = i32("rotary_embedding_dim", 4);
  for (const Fields& given : {Fields{rope}, {rope, i32("rotary_embedding_dim", 3)}, {rope, i32("rotary_embedding_dim", 10)}})
    EXPECT_NE(refused(fields(given)).found.find("it is an even number in 2 .. head_size"), std::string::npos);
  EXPECT_NE(refused(fields({rope, dim, f32("rotary_embedding_base", 0)})).found.find("base is not above 0"), std::string::npos);
  EXPECT_NE(refused(fields({rope, dim, i8("rotary_embedding_scale_type", 1), f32("rotary_embedding_scale", 0)})).found.find("scale is not"),
            std::string::npos);
  EXPECT_NE(
      refused(fields({i8("remove_input_padding", 1), i32("paged_kv_cache", 1), i32("use_cache", 0)})).found.find("pages that are written"),
      std::string::npos);
}

TEST(OpCreators, RefuseBytesThatAreNotThere) {
  EXPECT_NE(refused(fields({{"num_heads", TENON_FIELD_I32, 1, std::string(2, '\1')}})).found.find("has 2 bytes for 1 elements"),
            std::string::npos);
  for (const int64_t length : {int64_t{-1}, INT64_MAX})
    EXPECT_NE(refused(fields({{"num_heads", TENON_FIELD_I32, length, std::string(4, '\1')}})).found.find("bytes for"), std::string::npos);
  for (const int32_t type : {-1, 99}) EXPECT_NE(refused(fields({{"num_heads", type, 1, "x"}})).found.find("is of type"), std::string::npos);
}

}  // namespace
}  // namespace tenon::ops
