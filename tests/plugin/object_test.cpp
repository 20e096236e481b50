// SPDX-License-Identifier: Apache-2.0
#include "plugin/object.h"

#include <gtest/gtest.h>

#include <functional>

#include "made_op.h"
#include "plugin/added_graphs.h"

namespace tenon::plugin {
namespace {

/// What all functions of the op do now.
bool leaves_text = true;

int32_t says() {
  if (!leaves_text) return TENON_FAILED;
  set_failure("an old text");
  return TENON_OK;
}

struct Talking : MadeOp {
  Talking() {
    table.create = [](const tenon_host*, const tenon_node*, void**) { return says(); };
    table.infer = [](void*, tenon_inference*) { return says(); };
    table.define = [](void*, const tenon_definition*) { return says(); };
    table.supports = [](void*, uint32_t, const tenon_format*, uint32_t) { return says(); };
    table.configure = [](void*, const tenon_ranges*) { return says(); };
    table.tactics = [](void*, uint32_t, tenon_tactic*, uint32_t* count) {
      *count = 0;
      return says();
    };
    table.workspace = [](void*, const tenon_tensor* const*, const tenon_tensor* const*, uint64_t*) { return says(); };
    table.save = [](void*, const tenon_saver*) { return says(); };
    table.add_graphs = [](void*, const tenon_graphs*) { return says(); };
    table.attach = [](void*, void**) { return says(); };
    table.shapes_changed = [](void*, const tenon_tensor* const*, const tenon_tensor* const*) { return says(); };
    table.enqueue = [](void*, const tenon_call*) { return says(); };
  }
};

TEST(PluginObject, AnErrorHasNoTextThatAnEarlierCallLeft) {
  const Talking made;
  const Op op = made.read();
  const auto object = *Object::create(op, TENON_BUILD, "node", {}, 0, 0);
  const tenon_format format{};
  std::string why;
  tenon_inference inference = blank<tenon_inference>();
  const tenon_definition definition = blank<tenon_definition>();
  const tenon_ranges ranges = blank<tenon_ranges>();
  const tenon_call call = blank<tenon_call>();
  const auto dropped = [](auto result) -> Result<void> {
    if (!result) return std::move(result).error();
    return {};
  };
  const std::vector<std::pair<const char*, std::function<Result<void>()>>> functions = {
      {"create", [&] { return dropped(Object::create(op, TENON_BUILD, "node", {}, 0, 0)); }},
      {"infer", [&] { return object->infer(inference); }},
      {"define", [&] { return object->define(definition); }},
      {"supports", [&] { return dropped(object->takes(0, {&format, 1}, why)); }},
      {"configure", [&] { return object->configure(ranges); }},
      {"tactics", [&] { return dropped(object->tactics()); }},
      {"workspace", [&] { return dropped(object->workspace(nullptr, nullptr)); }},
      {"save", [&] { return dropped(object->save({})); }},
      {"add_graphs", [&] { return dropped(added_graphs(*object, 0, [](uint32_t) { return Tensor(); })); }},
      {"attach", [&] { return dropped(object->attach()); }},
      {"shapes_changed", [&] { return object->shapes_changed(nullptr, nullptr); }},
      {"enqueue", [&] { return object->enqueue(call); }},
  };
  for (const auto& [first, leaves] : functions)
    for (const auto& [second, fails] : functions) {
      leaves_text = true;
      EXPECT_TRUE(leaves()) << first;
      leaves_text = false;
      const auto done = fails();
      ASSERT_FALSE(done) << second;
      EXPECT_EQ(done.error()->what, std::string("its `") + second + "` says: status 1") << "after " << first;
    }
}

}  // namespace
}  // namespace tenon::plugin
