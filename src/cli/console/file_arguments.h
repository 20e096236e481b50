// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "cli/console/command_files.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tenon::cli {

/// Whether the values of an argument are files, and how these are used. It follows from the placeholder of the value: FILE and LIB are
/// read, DIR is a folder that is read; OUT is a file that is written, OUTDIR a folder of such. The type may come after a name and "=", or
/// beside another type: NAME=FILE, SET|FILE, OUT.npz.
enum class FileRole : uint8_t { none, input, input_folder, output, output_folder };
FileRole file_role(const CLI::Option& option);

/// The files that the arguments of a parsed verb and of its subcommands name. Where the verb writes anything, also the external data files
/// of an ONNX model (none where it cannot be read).
CommandFiles files_of(const CLI::App& verb);

/// Makes the parser refuse empty file names, as an unset shell variable gives.
void refuse_empty_names(CLI::App& verb);

}  // namespace tenon::cli
