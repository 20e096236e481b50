// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "cli/console/command_files.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tenon::cli {

/// What an argument's values name. Its type name says it: FILE and LIB are read, DIR is a folder that is read; OUT is a file that is
/// written, OUTDIR a folder of such. The type may come after a name and "=", or beside another type: NAME=FILE, SET|FILE, OUT.npz.
enum class FileRole : uint8_t { none, input, input_folder, output, output_folder };
FileRole file_role(const CLI::Option& option);

/// What the arguments of a parsed verb, and of its subcommands, name, with the files of external data of an ONNX model where the verb
/// writes anything: a model that cannot be read has none.
CommandFiles files_of(const CLI::App& verb);

/// An empty name, which a shell's variable that is not set leaves, is refused when the arguments are parsed.
void refuse_empty_names(CLI::App& verb);

}  // namespace tenon::cli
