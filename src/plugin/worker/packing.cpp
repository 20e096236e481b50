// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/packing.h"

#include <utility>

namespace tenon::plugin::worker {

void pack(Packer& to, const Error& error) {
  to << error->code << error->place << error->what << error->expected << error->found << error->advice;
}

Error unpack_error(Unpacker& from) {
  const auto number = from.number();
  const bool is_known = std::in_range<uint16_t>(number) && name_of(static_cast<Code>(number)) != "unknown";
  const Code code = is_known ? static_cast<Code>(number) : Code::device_failed;
  std::string texts[5];
  for (std::string& text : texts) text = from.text();
  return fail(code, texts[0], texts[1]).expected(texts[2]).found(texts[3]).advice(texts[4]);
}

}  // namespace tenon::plugin::worker
