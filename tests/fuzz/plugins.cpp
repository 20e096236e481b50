// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become what an engine keeps of plugins, which is written and read again, or one error; and a worker's answer.
// The first byte chooses the reader.
#include <cstdint>
#include <cstdlib>

#include "plugin/embedded.h"
#include "plugin/measured_node.h"
#include "plugin/saved.h"
#include "plugin/worker/packing.h"

namespace {

using namespace tenon;
using namespace tenon::plugin;
using namespace tenon::plugin::worker;

template <class T, class Decode, class Encode>
void round_trip(const Result<T>& read, Decode decode, Encode encode) {
  if (!read) {
    if (read.error().code() == Code::internal) std::abort();
    return;
  }
  const std::string bytes = encode(*read);
  const auto again = decode(bytes);
  if (!again || encode(*again) != bytes) std::abort();
}

void read_saved(std::string_view bytes) {
  round_trip(decode_saved(bytes), decode_saved, [](const Saved& s) { return encode(s); });
  round_trip(decode_all(bytes), decode_all, [](const std::vector<Saved>& all) {
    std::vector<std::string> each;
    for (const Saved& s : all) each.push_back(encode(s));
    return encode_all(std::vector<std::string_view>(each.begin(), each.end()));
  });
}

void read_measured(std::string_view bytes) {
  const auto nodes = decode_measured(bytes);
  for (size_t k = 0; nodes && k < nodes->size(); ++k)
    if ((*nodes)[k].text().size() > 64 * (bytes.size() + 1)) std::abort();
  round_trip(nodes, decode_measured, [](const std::vector<MeasuredNode>& n) { return encode(n); });
}

void read_embedded(std::string_view bytes) {  // without opening it: that runs what it holds
  round_trip(decode_embedded(bytes), decode_embedded, [](const Embedded& e) { return encode_embedded(e.name, e.bytes); });
}

/// What a host reads of an answer.
void read_answer(std::string_view bytes) {
  Unpacker from(bytes);
  size_t held = 0;
  while (!from.is_broken() && from.number() != 0) held += from.text().size() + from.numbers().size();
  if (held > bytes.size()) std::abort();
  Unpacker error(bytes);
  if (name_of(unpack_error(error).code()) == "unknown") std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: read_saved(bytes); break;
    case 1: read_measured(bytes); break;
    case 2: read_embedded(bytes); break;
    default: read_answer(bytes);
  }
  return 0;
}
