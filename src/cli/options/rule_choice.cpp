// SPDX-License-Identifier: Apache-2.0
#include "cli/options/rule_choice.h"

#include <filesystem>

#include "files/mapped_file.h"
#include "rewrite/compile/rules_file.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kDefaultSet = "default";

bool goes_on(std::string_view argument) { return argument.starts_with('+') || argument.starts_with('-'); }

void join(std::string& expression, const std::string& argument) {
  if (goes_on(argument) && expression.empty()) expression = kDefaultSet;
  if (!expression.empty() && !goes_on(argument)) expression += '+';
  expression += argument;
}

}  // namespace

bool is_rules_file(const std::string& argument) {
  std::error_code error;
  return argument.ends_with(".rules") || std::filesystem::is_regular_file(argument, error);
}

Result<std::vector<rewrite::RulePtr>> read_rules_file(const std::string& path, const ir::OpTable& ops) {
  const auto file = TRY(files::MappedFile::open(path));
  return rewrite::read_rules({reinterpret_cast<const char*>(file->bytes().data()), file->size()}, path, ops);
}

Result<RuleChoice> choose_rules(const std::vector<std::string>& arguments, const ir::OpTable& ops) {
  RuleChoice out;
  for (const std::string& argument : arguments) {
    if (is_rules_file(argument)) {
      for (auto& rule : TRY(read_rules_file(argument, ops))) out.files.push_back(std::move(rule));
    } else {
      join(out.expression, argument);
    }
  }
  if (arguments.empty()) out.expression = kDefaultSet;
  TRY(rules::select(out.expression));
  return out;
}

}  // namespace tenon::cli
