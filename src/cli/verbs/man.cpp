// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/console/console.h"
#include "cli/console/manual_page.h"
#include "cli/console/verb.h"

namespace tenon::cli::verb_man {

VERB(man) {
    .summary = "print the manual page of this command line",
    .examples =
        "  tenon man | man -l -\n"
        "\n`cmake --install` puts it where `man tenon` looks.\n",
    .setup = [](CLI::App& app) -> Action {
      return [program = app.get_parent()](Console& console) -> Result<void> {
        std::string text = manual_page(command_info(*program));
        console.object({{"man", text}});
        if (text.ends_with('\n')) text.pop_back();
        console.line(text);
        return {};
      };
    },
};

}  // namespace tenon::cli::verb_man
