// SPDX-License-Identifier: Apache-2.0
// The table of compile options, and the options that an engine file keeps.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/compile.h"
#include "compiler/load.h"
#include "compiler/options/saved_options.h"
#include "compiler/save.h"
#include "engine/reader.h"
#include "engine/writer.h"
#include "files/mapped_file.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::compiler {
namespace {

using Json = nlohmann::json;

TEST(OptionTable, FlagsAreDistinctAndDocumented) {
  std::set<std::string_view> flags, names;
  for (const OptionRow& row : option_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    if (row.flag.empty()) continue;
    EXPECT_TRUE(row.flag.starts_with("--")) << row.name;
    EXPECT_TRUE(flags.insert(row.flag).second) << row.flag;
    EXPECT_FALSE(row.help.empty()) << row.name;
  }
  EXPECT_GT(flags.size(), 20U);
}

TEST(OptionTable, ChoicesAreIndexedByValue) {
  EXPECT_EQ(choices_of(option_row("precision")), (std::vector<std::string>{"f32", "bf16"}));
  EXPECT_EQ(choices_of(option_row("kv")), (std::vector<std::string>{"f32", "f16", "bf16", "int8", "fp8"}));
  EXPECT_EQ(choices_of(option_row("opt")), std::vector<std::string>());
}

TEST(OptionTable, BoundsReadAsRanges) {
  EXPECT_EQ(bounds_of(option_row("opt")), "0 to 3");
  EXPECT_EQ(bounds_of(option_row("threads")), "0 or more");
  EXPECT_EQ(bounds_of({.name = "x", .flag = "", .value = "", .help = "", .most = 7}), "7 or less");
}

TEST(OptionTable, CompilerOptionsStartWithDefaultsOfTheTable) {
  const CompileOptions options;
  EXPECT_EQ(options.opt, 3);
  EXPECT_EQ(options.threads, 0);
  EXPECT_EQ(options.precision, codegen::Precision::f32);
  EXPECT_TRUE(options.winograd);
}

TEST(OptionTable, FalseDisablesPassOfThatName) {
  ScalarOptions options;
  EXPECT_TRUE(disabled_passes(options).empty());
  options.winograd = false;
  const auto passes = disabled_passes(options);
  EXPECT_EQ(std::vector<std::string>(passes.begin(), passes.end()), std::vector<std::string>{"winograd"});
  for (const std::string& pass : passes)
    EXPECT_TRUE(std::ranges::any_of(pass_names(), [&](const PassName& known) { return known.name == pass; })) << pass;
}

TEST(OptionTable, ScalarsAreVisitedByReference) {
  ScalarOptions options;
  for_each_scalar(options, [](const OptionRow& row, auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, int>)
      if (row.name == "opt") value = 1;
  });
  EXPECT_EQ(options.opt, 1);
  EXPECT_EQ(options.threads, 0);
}

/// With all options that an engine keeps set to other values than the defaults.
CodeOptions set_options() {
  CodeOptions out;
  out.opt = 1;
  out.winograd = false;
  out.precision = codegen::Precision::bf16;
  out.activations = codegen::Activations::i8;
  out.off = {"fuse", "winograd"};
  out.constraints.assign = partition::Assign::cost;
  out.constraints.segmenter = partition::Segmenter::walk;
  out.constraints.min_block_size = 3;
  out.constraints.memory = {{"openvino", int64_t{5} << 30}};
  out.constraints.narrow = {{DType::f64, DType::f32}};
  out.constraints.require_full = true;
  return out;
}

runtime::Libraries set_libraries() {
  runtime::Libraries out;
  out.preferred_plugins = {"acme::FastDFT"};
  out.plugin_tactics = {{"acme::Conv", 2}};
  return out;
}

Json saved(const CodeOptions& options, const runtime::Libraries& libraries = {}) {
  return Json::parse(saved_options(options, libraries).dump());
}

TEST(SavedOptions, DefaultsAreLeftOut) {
  CodeOptions options;
  options.threads = 2;           // a run has its own
  options.embed_plugins = true;  // of the file
  EXPECT_EQ(saved(options), Json::object());
}

TEST(SavedOptions, ReadOptionsEqualTheSavedOnes) {
  const Json written = saved(set_options(), set_libraries());
  EXPECT_EQ(written,
            Json::parse(R"({"opt": 1, "winograd": false, "precision": "bf16", "activations": "i8", "without": ["fuse"], "assign": "cost",
    "segmenter": "walk", "min_block_size": 3, "memory": {"openvino": 5368709120}, "narrow": {"f64": "f32"}, "require_full": true,
    "prefer": ["acme::FastDFT"], "plugin_tactics": {"acme::Conv": 2}})"));
  CodeOptions options;
  runtime::Libraries libraries;
  const auto status = read_options(written, "m.tenon", options, libraries);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(saved(options, libraries), written);
  EXPECT_EQ(options.off, set_options().off);
}

/// A new option is kept, or has its reason here.
TEST(SavedOptions, EveryOptionIsKeptOrHasAReason) {
  const std::map<std::string_view, std::string_view> reasons{
      {"external_data", "the graph contains its effect"},
      {"ranges", "the graph contains its effect"},
      {"outputs", "the graph contains its effect"},
      {"states", "the graph contains its effect"},
      {"context", "the graph contains its effect"},
      {"lora", "the graph contains its effect"},
      {"weights", "the graph contains its effect"},
      {"kv", "the graph contains its effect"},
      {"batch", "the graph contains its effect"},
      {"window", "the graph contains its effect"},
      {"sinks", "the graph contains its effect"},
      {"build_config", "the graph contains its effect; the rule that it turns off is saved with `without`"},
      {"freeze_defaults", "the graph contains its effect"},
      {"backends", "a list of its own in the manifest"},
      {"measure", "an engine is loaded without measuring"},
      {"libraries.files", "given where the engine is loaded"},
      {"libraries.custom_ops", "given where the engine is loaded"},
      {"plugins", "given where the engine is loaded"},
      {"isolate_plugins", "given where the engine is loaded"},
      {"plugin_timeout", "given where the engine is loaded"},
      {"plugin_memory", "given where the engine is loaded"},
      {"pins", "refused by check_portable"},
      {"fallback_ops", "refused by check_portable"},
      {"fallback_modules", "refused by check_portable"},
  };
  const Json written = saved(set_options(), set_libraries());
  for (const OptionRow& row : option_rows()) {
    const bool is_kept = written.contains(row.name), has_reason = reasons.contains(row.name) || row.running || row.saving;
    EXPECT_NE(is_kept, has_reason) << row.name;
  }
}

Error error_of(const char* json) {
  CodeOptions options;
  runtime::Libraries libraries;
  const auto status = read_options(Json::parse(json), "m.tenon", options, libraries);
  EXPECT_FALSE(status) << json;
  return status ? fail(Code::internal, "", "") : status.error();
}

TEST(SavedOptions, UnknownOptionIsAnErrorThatNamesIt) {
  const Error error = error_of(R"({"opt": 2, "goats": 3})");
  EXPECT_EQ(error.code(), Code::wrong_target);
  EXPECT_EQ(error->found, "goats");
  EXPECT_NE(error->what.find("'goats'"), std::string::npos);
  EXPECT_NE(error->expected.find("winograd"), std::string::npos);
  EXPECT_EQ(error_of(R"({"threads": 2})").code(), Code::wrong_target) << "runs have their own";
}

TEST(SavedOptions, UnknownEnumeratorIsAnErrorThatNamesIt) {
  const Error error = error_of(R"({"precision": "bf8"})");
  EXPECT_EQ(error.code(), Code::wrong_target);
  EXPECT_EQ(error->place, "option 'precision'");
  EXPECT_EQ(error->found, "\"bf8\"");
  EXPECT_EQ(error->expected, "f32, bf16");
  EXPECT_EQ(error_of(R"({"precision": 1})").code(), Code::wrong_target);
}

TEST(SavedOptions, BadValuesAreErrors) {
  for (const char* json : {"[]",
                           "3",
                           "null",
                           R"({"opt": 99})",
                           R"({"opt": -1})",
                           R"({"opt": 1.5})",
                           R"({"opt": "3"})",
                           R"({"winograd": "no"})",
                           R"({"min_block_size": 0})",
                           R"({"min_block_size": 4294967296})",
                           R"({"min_block_size": 18446744073709551615})",
                           R"({"memory": [1]})",
                           R"({"memory": {"cpu": "1G"}})",
                           R"({"memory": {"cpu": 18446744073709551615}})",
                           R"({"narrow": []})",
                           R"({"narrow": {"f64": 1}})",
                           R"({"narrow": {"f65": "f32"}})",
                           R"({"opt": 99, "winograd": false})",
                           R"({"plugin_tactics": [1]})",
                           R"({"require_full": 1})",
                           R"({"prefer": "a"})",
                           R"({"plugin_tactics": {"a": 2147483648}})",
                           R"({"without": [7]})"})
    EXPECT_EQ(error_of(json).code(), Code::bad_file) << json;
}

TEST(SavedOptions, BoundsThemselvesAreRead) {
  for (const char* json : {R"({"opt": 0, "min_block_size": 1})", R"({"opt": 3, "min_block_size": 4294967295})"}) {
    CodeOptions options;
    runtime::Libraries libraries;
    EXPECT_TRUE(read_options(Json::parse(json), "m.tenon", options, libraries)) << json;
    EXPECT_EQ(options.opt, Json::parse(json)["opt"]);
  }
}

TEST(SavedOptions, NamesOfPartsOfTheModelAreRefusedInPortableEngines) {
  CodeOptions options = set_options();
  EXPECT_TRUE(check_portable(options));
  options.constraints.pins = {{"/product", "reference"}};
  EXPECT_EQ(check_portable(options).error().code(), Code::not_supported);
  EXPECT_EQ(check_portable(options).error()->found, "--pin");
  options.constraints.pins = {};
  options.constraints.fallback_ops = {"Relu"};
  EXPECT_EQ(check_portable(options).error()->found, "--fallback-ops");
  options.constraints.fallback_ops = {};
  options.constraints.fallback_modules = {"/a"};
  EXPECT_EQ(check_portable(options).error()->found, "--fallback-modules");
}

/// A 3x3 convolution that Winograd's algorithm computes where nothing turns it off.
constexpr const char* kConvolution = R"(graph main(x: f32[1,32,28,28]) {
  const w: f32[32,32,3,3] = splat(0.5)
  y: f32[1,32,28,28] = Conv(x, w, pads=[1, 1, 1, 1])
  return y
}
)";

std::filesystem::path portable(const CompileOptions& given) {
  const auto path = std::filesystem::path(testing::TempDir()) / "saved_options.tenon";
  CompileOptions options = given;
  options.portable = true;
  EXPECT_TRUE(save(*compile(*ir::parse(kConvolution, ops::table()), options), options, path));
  return path;
}

size_t groups_where_loaded(const std::filesystem::path& path) {
  const auto loaded = compile_if_portable(path);
  EXPECT_TRUE(loaded) << loaded.error().text();
  return loaded ? (*loaded)->compiled.report.groups : 0;
}

TEST(SavedOptions, PortableEngineIsCompiledWithThem) {
  CompileOptions plain, without;
  without.winograd = false;
  without.off = {"winograd"};
  const size_t usual = groups_where_loaded(portable(plain));
  EXPECT_LT(groups_where_loaded(portable(without)), usual) << "Winograd's transforms are groups of their own";
  CompileOptions by_pass;
  by_pass.off = {"winograd"};
  EXPECT_LT(groups_where_loaded(portable(by_pass)), usual);
  CompileOptions pinned;
  pinned.portable = true;
  pinned.constraints.fallback_ops = {"Conv"};
  EXPECT_EQ(save(*compile(*ir::parse(kConvolution, ops::table()), pinned), pinned, portable(plain)).error().code(), Code::not_supported);
}

/// Of engines before the manifest had `options`.
TEST(SavedOptions, LevelAndPrecisionOfOldManifestsAreRead) {
  const auto with_manifest = [](const char* manifest) {
    const auto path = portable({}), out = path.parent_path() / "saved_options_old.tenon";
    const auto file = *files::MappedFile::open(path);
    const auto reader = *engine::Reader::open(file->bytes(), file, path.string());
    engine::Writer writer;
    for (const engine::Section& s : reader.sections())
      writer.add(s.type,
                 s.type == engine::SectionType::manifest ? std::string(manifest)
                                                         : std::string(reinterpret_cast<const char*>(s.bytes.data()), s.bytes.size()),
                 {.required = s.required, .tag = s.tag});
    std::ofstream(out, std::ios::binary) << *writer.bytes();
    return out;
  };
  EXPECT_TRUE(load(with_manifest(R"({"opt": 0})")));
  EXPECT_EQ(load(with_manifest(R"({"precision": "bf8"})")).error().code(), Code::wrong_target);
  EXPECT_EQ(load(with_manifest(R"({"opt": 1, "options": {"goats": 3}})")).error()->found, "goats");
}

}  // namespace
}  // namespace tenon::compiler
