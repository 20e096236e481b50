// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/text_file.h"

#include <algorithm>

#include "files/mapped_file.h"
#include "llm/text/utf8.h"

namespace tenon::cli {

Result<void> check_text(std::string_view text, const std::string& place, Code code) {
  const std::string sound = llm::sound_utf8(text);
  if (sound == text) return {};
  const auto at = std::ranges::mismatch(sound, text).in1 - sound.begin();
  return fail(code, place + ", byte " + std::to_string(at), code == Code::bad_file ? "the file is no text" : "it is no text")
      .expected("UTF-8")
      .found("bytes that are none")
      .advice(code == Code::bad_file ? "give a text file, or convert it (iconv -t UTF-8)" : "give text, or convert it (iconv -t UTF-8)");
}

Result<std::string> read_text_file(const std::string& path) {
  const auto file = TRY(files::MappedFile::open(path));
  std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->size());
  TRY(check_text(text, path, Code::bad_file));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace tenon::cli
