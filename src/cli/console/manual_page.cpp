// SPDX-License-Identifier: Apache-2.0
#include "cli/console/manual_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "base/version.h"

namespace tenon::cli {
namespace {

/// Text as troff prints it: a backslash and a dash are letters, a line never begins with a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
  }
  return out;
}

std::string argument_text(const ArgumentInfo& row) {
  std::string names;
  for (const std::string& name : row.names) names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", escaped(name));
  if (row.takes_value() && row.names[0].starts_with('-')) names += fmt::format(" \\fI{}\\fR", escaped(row.value));
  return fmt::format(".TP\n{}\n{}\n", names, escaped(row.help));
}

/// Commands as they are, prose filled.
std::string examples_text(const std::string& examples) {
  std::string out;
  bool verbatim = false;
  std::istringstream lines(examples);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line == "Examples:") continue;
    const bool command = line[0] == ' ';
    if (command != verbatim) out += command ? ".PP\n.nf\n" : ".fi\n.PP\n";
    verbatim = command;
    out += escaped(line) + '\n';
  }
  return verbatim ? out + ".fi\n" : out;
}

std::string verb_text(const CommandInfo& verb, const std::string& before) {
  const std::string called = before + " " + verb.name;
  std::string out = fmt::format(".SS {}\n{}.\n", escaped(called), escaped(verb.summary));
  for (const ArgumentInfo& p : verb.positionals) out += argument_text(p);
  for (const ArgumentInfo& o : verb.options) out += argument_text(o);
  out += examples_text(verb.examples);
  for (const CommandInfo& inner : verb.verbs) out += verb_text(inner, called);
  return out;
}

}  // namespace

std::string manual_page(const CommandInfo& program) {
  std::string out = fmt::format(".TH TENON 1 \"\" \"{}\"\n.SH NAME\n{} \\- {}\n", escaped(kProducer), program.name,
                                "compile neural networks to engines, and run, measure and rewrite them");
  out += fmt::format(".SH SYNOPSIS\n.B {}\n.I VERB\n[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n{}\n.SH VERBS\n", program.name,
                     escaped(program.summary));
  for (const CommandInfo& verb : program.verbs) out += verb_text(verb, program.name);
  out += ".SH EXIT STATUS\n0 ok, 1 bad model or input, 2 bad usage, 3 not supported yet, 70 a bug of Tenon's.\n";
  return out;
}

}  // namespace tenon::cli
