// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "plugin/library.h"

namespace tenon::plugin {

/// Encodes a library for an engine file: its name, for messages, and its bytes. Field numbers never change.
std::string encode_embedded(std::string_view name, std::string_view bytes);

/// A library that is stored in an engine file.
struct Embedded {
  std::string name, bytes;
};
/// Errors: bad_file.
Result<Embedded> decode_embedded(std::string_view encoded);

/// Opens an embedded library from sealed memory (SealedMemory). A library with the same bytes that is open already is returned again.
/// Errors: bad_file where it does not decode, those of open_library, device_failed where the system has no such memory.
Result<std::shared_ptr<const Library>> open_embedded(std::string_view encoded, const Logger& logger);

/// Reads the files of the open libraries with these digests, and encodes each by encode_embedded, in the order of `sha256`.
/// Errors: bad_usage for a library without a file (functions of Python), or whose file changed since it was opened.
Result<std::vector<std::string>> embed(std::span<const std::string> sha256);

}  // namespace tenon::plugin
