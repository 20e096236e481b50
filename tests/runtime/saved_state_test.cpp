// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/hash.h"
#include "state_programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

struct SavedStateTest : testing::Test {
  SavedStateTest() {
    append(1);
    append(2);
    saved = *context->save_states();
  }
  void append(float value) {
    const std::vector<float> x(static_cast<size_t>(kOuter * kInner), value);
    ASSERT_TRUE(context->run(std::vector{Tensor::of_f32({kOuter, 1, kInner}, x)}));
  }
  static std::vector<float> value_of(const Context& c, size_t state) {
    const Tensor t = *c.state_value(state);
    return {t.as<float>().begin(), t.as<float>().end()};
  }
  /// Refused, and the states are as they were.
  Code refused(std::string_view bytes, Context& into) {
    const auto rows = value_of(into, 0), count = value_of(into, 1);
    const auto restored = into.restore_states(bytes);
    EXPECT_FALSE(restored);
    EXPECT_EQ(value_of(into, 0), rows);
    EXPECT_EQ(value_of(into, 1), count);
    return restored ? Code::internal : restored.error().code();
  }
  Code refused(std::string_view bytes) { return refused(bytes, *context); }
  /// The same bytes with a checksum that holds.
  static std::string sealed(std::string bytes) {
    const Hash128 sum = hash128(std::string_view(bytes).substr(32));
    std::memcpy(bytes.data() + 16, &sum, sizeof sum);
    return bytes;
  }

  std::shared_ptr<Engine> engine = state_engine();
  std::unique_ptr<Context> context = *Context::create(engine);
  std::string saved;
};

TEST_F(SavedStateTest, RestoreInAnotherContextGivesSameValues) {
  const auto other = *Context::create(engine);
  ASSERT_TRUE(other->restore_states(saved));
  EXPECT_EQ(other->length(0), 2);
  EXPECT_EQ(value_of(*other, 0), value_of(*context, 0));
  EXPECT_EQ(value_of(*other, 1), (std::vector<float>{2, 2}));
  append(3);
  EXPECT_NE(value_of(*other, 0), value_of(*context, 0));
  ASSERT_TRUE(context->restore_states(saved));
  EXPECT_EQ(value_of(*other, 0), value_of(*context, 0));
  EXPECT_EQ(*context->save_states(), saved);
}

TEST_F(SavedStateTest, RestoreInANewProcessTakesAnEqualEngine) {
  const auto other = *Context::create(state_engine());
  EXPECT_TRUE(other->restore_states(saved));
}

TEST_F(SavedStateTest, RestoreWritesToBoundMemory) {
  float count[kOuter] = {};
  const auto other = *Context::create(engine);
  ASSERT_TRUE(other->bind_state(1, Tensor::view(DType::f32, {kOuter}, count, nullptr)));
  ASSERT_TRUE(other->restore_states(saved));
  EXPECT_EQ(count[1], 2);
}

TEST_F(SavedStateTest, DamageIsRefused) {
  append(3);
  EXPECT_EQ(refused(""), Code::bad_file);
  EXPECT_EQ(refused("a letter, and a long one, so that a prefix would fit into it more than once"), Code::bad_file);
  for (size_t size = 0; size < saved.size(); size += 3) EXPECT_EQ(refused(std::string_view(saved).substr(0, size)), Code::bad_file) << size;
  for (size_t at = 0; at < saved.size(); ++at) {
    std::string bad = saved;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    EXPECT_EQ(refused(bad), Code::bad_file) << at;
  }
}

/// With a checksum that holds, as somebody might write on purpose.
TEST_F(SavedStateTest, DamageUnderAGoodChecksumIsRefusedOrRestoresWholeStates) {
  for (size_t bit = 64; bit < 8 * saved.size(); ++bit) {
    std::string bad = saved;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    if (bit >= 128 && bit < 256) continue;  // the checksum
    const auto other = *Context::create(engine);
    if (!other->restore_states(sealed(bad))) {
      EXPECT_EQ(other->length(0), 0);
      continue;
    }
    EXPECT_LE(other->length(0), kCapacity);
    EXPECT_TRUE(other->run({}, {}, 1)) << bit;
  }
  EXPECT_EQ(refused(sealed(saved + "more")), Code::bad_file);
}

/// saved, with the messages of states in its header replaced by edit(their list), and more bytes of values after its own.
std::string with_states(const std::string& saved, size_t more, void (*edit)(std::vector<std::string>&)) {
  constexpr size_t kPrefix = 32, kHeaderBytes = 8;
  uint64_t bytes = 0;
  std::memcpy(&bytes, saved.data() + kHeaderBytes, sizeof bytes);
  std::string header;
  std::vector<std::string> states;
  protozero::pbf_writer to(header);
  const std::string own = saved.substr(kPrefix, bytes);
  for (protozero::pbf_reader in(own); in.next();)
    if (in.tag() == 3) states.push_back(in.get_view().to_string());
    else to.add_uint64(in.tag(), in.get_uint64());
  edit(states);
  for (const std::string& s : states) to.add_message(3, s);
  std::string out = saved.substr(0, kPrefix) + header + saved.substr(kPrefix + bytes) + std::string(more, '\0');
  bytes = header.size();
  std::memcpy(out.data() + kHeaderBytes, &bytes, sizeof bytes);
  return out;
}

template <int64_t kLength>
void set_length(std::vector<std::string>& states) {
  protozero::pbf_writer(states[0]).add_sint64(2, kLength);  // the last one counts
}

TEST_F(SavedStateTest, LengthsAndNumbersOfStatesAreThoseOfTheEngine) {
  constexpr size_t kRow = kOuter * kInner * sizeof(float);
  EXPECT_TRUE(context->restore_states(sealed(with_states(saved, 2 * kRow, set_length<kCapacity>))));
  EXPECT_EQ(context->length(0), kCapacity);
  EXPECT_EQ(refused(sealed(with_states(saved, 3 * kRow, set_length<kCapacity + 1>))), Code::bad_file);
  EXPECT_EQ(refused(sealed(with_states(saved, 0, set_length<-1>))), Code::bad_file);
  EXPECT_EQ(refused(sealed(with_states(saved, 0, set_length<kCapacity>))), Code::bad_file) << "rows are missing";
  EXPECT_EQ(refused(sealed(with_states(saved, 0, [](auto& states) { states.push_back(states[1]); }))), Code::bad_input);
  EXPECT_EQ(refused(sealed(with_states(saved, 0, [](auto& states) { states.pop_back(); }))), Code::bad_input);
}

TEST_F(SavedStateTest, StatesOfAnotherEngineAreRefused) {
  ProgramTable table = state_table();
  table[0].steps[0].label = "another";
  EXPECT_EQ(refused(saved, **Context::create(state_engine(table))), Code::bad_input);
  table = state_table();
  table.states[0].shape[1] = kCapacity + 1;
  EXPECT_EQ(refused(saved, **Context::create(state_engine(table))), Code::bad_input);
}

TEST_F(SavedStateTest, StatesOfOtherWeightsAreRefused) {
  const auto with_weight = [](float weight) {
    auto memory = std::make_shared<std::vector<float>>(1000 + kSlack, weight);
    EngineParts parts;
    parts.programs = state_table();
    parts.programs.weight_bytes = 4000;
    parts.weights = std::as_bytes(std::span(*memory));
    parts.keeper = memory;
    for (const KernelFunction f : {append_rows, read_rows, copy_rows}) add_kernel(parts, f);
    return *Context::create(*Engine::create(std::move(parts), test_devices()));
  };
  const auto one = with_weight(1), same = with_weight(1), other = with_weight(2);
  const std::string bytes = *one->save_states();
  EXPECT_TRUE(same->restore_states(bytes));
  EXPECT_EQ(refused(bytes, *other), Code::bad_input);
}

}  // namespace
}  // namespace tenon::tests
