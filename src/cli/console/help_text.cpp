// SPDX-License-Identifier: Apache-2.0
#include "cli/console/help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "cli/console/option_groups.h"
#include "cli/console/wrap.h"

namespace tenon::cli {
namespace {

/// A name, and what it is, in two columns.
struct Entry {
  std::string name, help;
};

std::string two_columns(const std::vector<Entry>& entries, size_t width) {
  constexpr size_t kIndent = 2, kGap = 2;
  const size_t most = width / 3;
  size_t column = 0;
  for (const Entry& e : entries)
    if (e.name.size() <= most) column = std::max(column, e.name.size());
  const std::string indent(kIndent + column + kGap, ' ');
  std::string out;
  for (const Entry& e : entries) {
    const auto lines = wrapped(e.help, width - std::min(width / 2, indent.size()));
    const bool on_same_line = e.name.size() <= column;
    out += fmt::format("{:{}}{}", "", kIndent, e.name);
    if (on_same_line && !lines.empty()) out += std::string(column - e.name.size() + kGap, ' ') + lines[0];
    out += '\n';
    for (size_t k = on_same_line ? 1 : 0; k < lines.size(); ++k) out += indent + lines[k] + '\n';
  }
  return out;
}

std::string section(const std::string& title, const std::vector<Entry>& entries, size_t width) {
  return entries.empty() ? "" : "\n" + title + ":\n" + two_columns(entries, width);
}

Entry entry_of(const ArgumentInfo& row) {
  std::string name = fmt::format("{}", fmt::join(row.names, ", "));
  if (row.takes_value() && row.names[0].starts_with('-')) name += " " + row.value;
  return {name, row.help + (row.required && row.names[0].starts_with('-') ? " (required)" : "")};
}

std::string usage_text(const CommandInfo& command, const std::string& called) {
  std::string out = "Usage: " + called;
  if (!command.options.empty()) out += " [OPTIONS]";
  for (const ArgumentInfo& p : command.positionals) {
    const std::string name = p.names[0] + (p.repeated ? "..." : "");
    out += p.required ? " " + name : " [" + name + "]";
  }
  return out + (command.verbs.empty() ? "\n" : " VERB\n");
}

/// The groups of options in the order in which they come up first, rare ones last.
std::vector<std::string> groups_of(const CommandInfo& command) {
  std::vector<std::string> out;
  for (const bool rare : {false, true})
    for (const ArgumentInfo& o : command.options)
      if (is_rare(o.group) == rare && std::ranges::find(out, o.group) == out.end()) out.push_back(o.group);
  return out;
}

std::string options_text(const CommandInfo& command, const std::string& called, bool all, size_t width) {
  std::string out, left_out;
  size_t count = 0;
  for (const std::string& group : groups_of(command)) {
    std::vector<Entry> entries;
    for (const ArgumentInfo& o : command.options)
      if (o.group == group) entries.push_back(entry_of(o));
    if (all || !is_rare(group)) {
      out += section(group, entries, width);
    } else {
      count += entries.size();
      left_out += (left_out.empty() ? "" : ", ") + group;
    }
  }
  if (count == 0) return out;
  const std::string more = fmt::format("{} more options ({}): {} --help-all", count, left_out, called);
  return out + "\n" + fmt::format("{}\n", fmt::join(wrapped(more, width), "\n"));
}

/// A command of the examples; what comes after a gap is a remark, which gets a line of its own where the two are too long.
std::string example_text(const std::string& line, size_t width) {
  const size_t text = line.find_first_not_of(' ');
  const size_t gap = line.find("  ", text == line.npos ? 0 : text);
  if (line.size() <= width || gap == line.npos) return line + '\n';
  std::string out = line.substr(0, gap) + '\n';
  for (const std::string& part : wrapped(line.substr(gap), width - 6)) out += "      " + part + '\n';
  return out;
}

/// Commands are indented; other lines are prose.
std::string examples_text(const std::string& examples, size_t width) {
  std::string out, prose;
  const auto end_prose = [&] {
    for (const std::string& line : wrapped(prose, width)) out += line + '\n';
    prose.clear();
  };
  std::istringstream lines(examples);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ') {
      prose += line + " ";
      continue;
    }
    end_prose();
    out += example_text(line, width);
  }
  end_prose();
  return out;
}

}  // namespace

std::string help_text(const CommandInfo& command, const std::string& called, bool all, size_t width) {
  std::string out;
  for (const std::string& line : wrapped(command.summary, width)) out += line + '\n';
  out += "\n" + usage_text(command, called);
  std::vector<Entry> positionals, verbs;
  for (const ArgumentInfo& p : command.positionals) positionals.push_back({p.names[0], p.help});
  for (const CommandInfo& v : command.verbs) verbs.push_back({v.name, v.summary});
  out += section("Arguments", positionals, width) + section("Verbs", verbs, width);
  return out + options_text(command, called, all, width) + examples_text(command.examples, width);
}

}  // namespace tenon::cli
