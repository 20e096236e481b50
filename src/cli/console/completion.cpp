// SPDX-License-Identifier: Apache-2.0
#include "cli/console/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

namespace tenon::cli {
namespace {

std::string names_of(const std::vector<CommandInfo>& verbs) {
  std::string out;
  for (const CommandInfo& v : verbs) out += (out.empty() ? "" : " ") + v.name;
  return out;
}

std::string names_of(const std::vector<ArgumentInfo>& options) {
  std::string out;
  for (const ArgumentInfo& o : options) out += fmt::format("{}{}", out.empty() ? "" : " ", fmt::join(o.names, " "));
  return out;
}

bool is_folder(FileRole role) { return role == FileRole::input_folder || role == FileRole::output_folder; }

/// Calls visit(command, "rules why") for each verb and those below it; of the program the words are "".
void each_command(const CommandInfo& command, const std::string& words,
                  const std::function<void(const CommandInfo&, const std::string& words)>& visit) {
  visit(command, words);
  for (const CommandInfo& verb : command.verbs) each_command(verb, words.empty() ? verb.name : words + " " + verb.name, visit);
}

/// Text between single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

/// Text of a description in zsh's _arguments: brackets and colons end it.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return shell_quoted(out);
}

/// The action by which zsh's _arguments completes a value.
std::string zsh_action(const ArgumentInfo& row) {
  if (!row.choices.empty()) return fmt::format("({})", fmt::join(row.choices, " "));
  if (is_folder(row.role)) return "_files -/";
  if (row.role == FileRole::none) return " ";
  return row.value.contains('=') ? "{ compset -P \"*=\"; _files }" : "_files";  // NAME=FILE
}

std::string zsh_arguments(const CommandInfo& command) {
  std::string out = "    _arguments";
  for (const ArgumentInfo& o : command.options)
    for (const std::string& name : o.names)
      out += fmt::format(" \\\n      '{}{}[{}]{}'", o.repeated ? "*" : "", name, zsh_text(o.help),
                         o.takes_value() ? fmt::format(":{}:{}", zsh_text(o.value), zsh_action(o)) : "");
  for (const ArgumentInfo& p : command.positionals) {
    const bool file = p.role != FileRole::none || p.choices.empty();
    out += fmt::format(" \\\n      '{}:{}:{}'", p.repeated ? "*" : "", zsh_text(p.names[0]), file ? "_files" : zsh_action(p));
  }
  return out + "\n";
}

}  // namespace

std::string bash_completion(const CommandInfo& program) {
  std::string verbs, options, values;
  each_command(program, "", [&](const CommandInfo& command, const std::string& words) {
    if (!command.verbs.empty()) verbs += fmt::format("    '{}') words='{}' ;;\n", words, names_of(command.verbs));
    options += fmt::format("    '{}') words='{}' ;;\n", words, names_of(command.options));
    for (const ArgumentInfo& o : command.options)
      for (const std::string& name : o.names) {
        if (!o.takes_value()) continue;
        const std::string how = !o.choices.empty()         ? fmt::format("-W '{}'", fmt::join(o.choices, " "))
                                : is_folder(o.role)        ? "-d"
                                : o.role != FileRole::none ? "-f"
                                                           : "-W ''";
        values += fmt::format("    '{} {}') COMPREPLY=($(compgen {} -- \"$cur\")); return ;;\n", words, name, how);
      }
    for (const ArgumentInfo& p : command.positionals)
      if (!p.choices.empty()) verbs += fmt::format("    '{}') words='{}' ;;\n", words, fmt::join(p.choices, " "));
  });
  return fmt::format(
      R"(# Completion of {0} for bash; `{0} completion bash` prints it.
_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= words= k
  COMPREPLY=()
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi  # --option=value
  for ((k = 1; k < COMP_CWORD; ++k)); do
    case "$command ${{COMP_WORDS[k]}}" in
{1}      *) [[ ${{COMP_WORDS[k]}} == -* ]] || break ;;
    esac
  done
  case "$command $prev" in
{2}  esac
  if [[ $cur == -* ]]; then
    case "$command" in
{3}    esac
  else
    case "$command" in
{4}    esac
    [[ $words ]] || {{ COMPREPLY=($(compgen -f -- "$cur")); return; }}
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o filenames -F _{0} {0}
)",
      program.name,
      [&] {
        std::string steps;
        each_command(program, "", [&](const CommandInfo& command, const std::string& words) {
          for (const CommandInfo& verb : command.verbs)
            steps +=
                fmt::format("      '{0} {1}') command='{2}' ;;\n", words, verb.name, words.empty() ? verb.name : words + " " + verb.name);
        });
        return steps;
      }(),
      values, options, verbs);
}

std::string zsh_completion(const CommandInfo& program) {
  std::string functions;
  each_command(program, "", [&](const CommandInfo& command, const std::string& words) {
    std::string name = "_" + program.name;
    for (const char c : words.empty() ? "" : " " + words) name += c == ' ' || c == '-' ? '_' : c;
    functions += fmt::format("{}() {{\n", name);
    if (command.verbs.empty()) {
      functions += zsh_arguments(command) + "}\n\n";
      return;
    }
    std::string described, calls;
    for (const CommandInfo& verb : command.verbs) {
      described += fmt::format("      '{}:{}'\n", verb.name, shell_quoted(verb.summary));
      std::string inner = name + "_" + verb.name;
      for (char& c : inner) c = c == '-' ? '_' : c;
      calls += fmt::format("      {}) {} ;;\n", verb.name, inner);
    }
    functions += fmt::format(
        "  if (( CURRENT > 2 )); then\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n{}    esac\n"
        "  elif [[ $PREFIX == -* ]]; then\n{}  else\n    local -a verbs=(\n{}    )\n    _describe verb verbs\n  fi\n}}\n\n",
        calls, zsh_arguments(command), described);
  });
  return fmt::format("#compdef {0}\n# Completion of {0} for zsh; `{0} completion zsh` prints it.\n\n{1}_{0} \"$@\"\n", program.name,
                     functions);
}

std::string fish_completion(const CommandInfo& program) {
  const std::string at = "__" + program.name + "_at";
  std::string out = fmt::format(
      R"(# Completion of {0} for fish; `{0} completion fish` prints it.
# {1} within|exactly VERB...: whether the line's words, but for options, begin with these verbs, or are these.
function {1} -a how
  set -l words
  set -l line (commandline -opc)
  for word in $line[2..-1]
    string match -q -- '-*' $word; or set -a words $word
  end
  set -e argv[1]
  set -l count (count $argv)
  test $how = exactly; and test (count $words) -ne $count; and return 1
  test (count $words) -ge $count; or return 1
  test $count -eq 0; or test "$words[1..$count]" = "$argv"
end
)",
      program.name, at);
  each_command(program, "", [&](const CommandInfo& command, const std::string& words) {
    const std::string begin = fmt::format("complete -c {} -n '{} {}{}{}'", program.name, at, command.verbs.empty() ? "within" : "exactly",
                                          words.empty() ? "" : " ", words);
    for (const CommandInfo& verb : command.verbs) out += fmt::format("{} -f -a {} -d '{}'\n", begin, verb.name, shell_quoted(verb.summary));
    for (const ArgumentInfo& o : command.options) {
      out += begin;
      for (const std::string& name : o.names) out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!o.choices.empty()) out += fmt::format(" -x -a '{}'", fmt::join(o.choices, " "));
      else if (is_folder(o.role)) out += " -x -a '(__fish_complete_directories)'";
      else if (o.takes_value()) out += o.role == FileRole::none ? " -x" : " -r -F";
      out += fmt::format(" -d '{}'\n", shell_quoted(o.help));
    }
    for (const ArgumentInfo& p : command.positionals)
      if (!p.choices.empty()) out += fmt::format("{} -f -a '{}'\n", begin, fmt::join(p.choices, " "));
  });
  return out;
}

}  // namespace tenon::cli
