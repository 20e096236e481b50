// SPDX-License-Identifier: Apache-2.0
#include "runtime/shared_models.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace tenon::tests {
namespace {

using namespace runtime;

struct Api {
  static inline std::atomic<int> opened{0};
  static Result<std::shared_ptr<const Api>> open(const Libraries&) {
    ++opened;
    return std::make_shared<const Api>();
  }
};

/// Whatever thread comes first makes it; all have the same one.
TEST(SharedModels, AreMadeOnceForAllThreads) {
  const SharedModels<Api, int> models({});
  const std::string first = "first", second = "second";
  std::atomic<int> made{0};
  std::vector<std::array<std::shared_ptr<const int>, 3>> had(4);
  std::vector<std::jthread> threads;
  for (auto& mine : had)
    threads.emplace_back([&] {
      size_t k = 0;
      for (const BlobView& blob : {BlobView{.bytes = first}, BlobView{.bytes = second}, BlobView{.bytes = first, .threads = 2}})
        mine[k++] = *models.of(blob, [&](const std::shared_ptr<const Api>&) -> Result<std::shared_ptr<const int>> {
          return std::make_shared<const int>(made++);
        });
    });
  threads.clear();
  EXPECT_EQ(made, 3);
  EXPECT_EQ(Api::opened, 1);
  for (const auto& mine : had) EXPECT_EQ(mine, had[0]);
}

TEST(SharedModels, EndWithTheLastWhoHasThem) {
  const SharedModels<Api, int> models({});
  const std::string bytes = "bytes";
  const auto make = [](const std::shared_ptr<const Api>&) -> Result<std::shared_ptr<const int>> { return std::make_shared<const int>(7); };
  std::weak_ptr<const int> seen = *models.of({.bytes = bytes}, make);
  EXPECT_TRUE(seen.expired());
  const auto kept = *models.of({.bytes = bytes}, make);
  EXPECT_EQ(kept, *models.of({.bytes = bytes}, make));
}

}  // namespace
}  // namespace tenon::tests
