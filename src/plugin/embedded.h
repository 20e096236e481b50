// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "plugin/library.h"

namespace tenon::plugin {

/// A library's file inside an engine: its name, for messages, and its bytes. Numbered fields for ever.
std::string encode_embedded(std::string_view name, std::string_view bytes);

struct Embedded {
  std::string name, bytes;
};
/// Errors: bad_file.
Result<Embedded> decode_embedded(std::string_view encoded);

/// Opens one, out of sealed memory; what is open with the same bytes is given again. Errors: bad_file for what does not decode, those of
/// open_library, device_failed where the system gives no such memory.
Result<std::shared_ptr<const Library>> open_embedded(std::string_view encoded, const Logger& logger);

/// The libraries of these digests as encode_embedded writes them, read from their files again, in the order of `sha256`.
/// Errors: bad_usage for one that is no file (functions of Python), or whose file changed since it was opened.
Result<std::vector<std::string>> embed(std::span<const std::string> sha256);

}  // namespace tenon::plugin
