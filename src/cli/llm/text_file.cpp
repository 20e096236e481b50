// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/text_file.h"

#include <algorithm>

#include "files/mapped_file.h"
#include "llm/text/utf8.h"

namespace tenon::cli {

Result<std::string> read_text_file(const std::string& path) {
  const auto file = TRY(files::MappedFile::open(path));
  std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->size());
  if (const std::string sound = llm::sound_utf8(text); sound != text) {
    const auto at = std::ranges::mismatch(sound, text).in1 - sound.begin();
    return fail(Code::bad_file, path + ", byte " + std::to_string(at), "the file is no text")
        .expected("UTF-8")
        .found("bytes that are none")
        .advice("give a text file, or convert it (iconv -t UTF-8)");
  }
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace tenon::cli
