// SPDX-License-Identifier: Apache-2.0
#include "cli/options/comma_list.h"

#include <algorithm>

namespace tenon::cli {

Result<std::vector<std::string>> names_between_commas(const std::string& option, std::span<const std::string> given) {
  std::vector<std::string> out;
  for (const std::string& text : given)
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      if (begin == end)
        return fail(Code::bad_usage, option, "a name in the list is empty")
            .expected("names with a comma between two")
            .found("'" + text + "'")
            .advice("leave the stray comma out");
      out.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  return out;
}

}  // namespace tenon::cli
