// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/line_reader.h"

#include <unistd.h>

#include <utility>

namespace tenon::cli {

bool LineReader::read_more() {
  char bytes[4096];
  const ssize_t count = ::read(descriptor_, bytes, sizeof bytes);
  if (count > 0) buffer_.append(bytes, static_cast<size_t>(count));
  return count > 0;
}

std::optional<std::string> LineReader::line() {
  size_t end = buffer_.find('\n');
  while (end == std::string::npos) {
    const size_t before = buffer_.size();
    if (!read_more()) {
      if (buffer_.empty()) return std::nullopt;
      return std::exchange(buffer_, {});
    }
    end = buffer_.find('\n', before);
  }
  std::string out = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  if (out.ends_with('\r')) out.pop_back();
  return out;
}

std::string LineReader::rest() {
  while (read_more()) {}
  return std::exchange(buffer_, {});
}

}  // namespace tenon::cli
