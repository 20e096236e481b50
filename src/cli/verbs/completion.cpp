// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

#include "cli/console/completion.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"

namespace tenon::cli::verb_completion {

VERB(completion) {
    .summary = "print the completion script for a shell",
    .examples =
        "  eval \"$(tenon completion bash)\"                     in ~/.bashrc\n"
        "  tenon completion zsh > ~/.zfunc/_tenon              a folder of $fpath\n"
        "  tenon completion fish > ~/.config/fish/completions/tenon.fish\n"
        "\n`cmake --install` installs the scripts in the completion folders of the shells.\n",
    .setup = [](CLI::App& app) -> Action {
      auto shell = std::make_shared<std::string>();
      app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
      return [shell, program = app.get_parent()](Console& console) -> Result<void> {
        const CommandInfo command = command_info(*program);
        std::string text = *shell == "bash"  ? bash_completion(command)
                           : *shell == "zsh" ? zsh_completion(command)
                                             : fish_completion(command);
        console.object({{"completion", text}});
        if (text.ends_with('\n')) text.pop_back();
        console.line(text);
        return {};
      };
    },
};

}  // namespace tenon::cli::verb_completion
