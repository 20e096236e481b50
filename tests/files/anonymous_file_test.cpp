// SPDX-License-Identifier: Apache-2.0
#include "files/anonymous_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace tenon::files {
namespace {

constexpr size_t kSize = 32 << 20;

/// Sets a variable of the environment for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* was = getenv(name)) was_ = was;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { was_ ? setenv(name_, was_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> was_;
};

int64_t resident_bytes() {
  std::ifstream of("/proc/self/statm");
  int64_t all = 0, resident = 0;
  of >> all >> resident;
  return resident * getpagesize();
}

class AnonymousFile : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
    for (size_t k = 0; k < kSize; ++k) bytes[k] = static_cast<std::byte>(k >> 8);
  }
  void TearDown() override { munmap(memory_, kSize); }
  std::span<std::byte> pages() { return {static_cast<std::byte*>(memory_), kSize}; }

  std::vector<std::byte> bytes = std::vector<std::byte>(kSize);

 private:
  void* memory_ = nullptr;
};

TEST_F(AnonymousFile, TakesMemoryForWhatIsReadAlone) {
  const int64_t before = resident_bytes();
  if (!map_anonymous_file(pages(), bytes)) GTEST_SKIP() << "needs a disk below $TMPDIR or /var/tmp";
  for (const size_t at : {size_t{0}, kSize / 3, kSize - 1}) EXPECT_EQ(pages()[at], bytes[at]);
  EXPECT_LT(resident_bytes() - before, static_cast<int64_t>(kSize / 16));
  EXPECT_TRUE(std::ranges::equal(pages(), bytes));
}

TEST_F(AnonymousFile, LeavesNoName) {
  const TemporaryFolder folder;
  const Environment temporary("TMPDIR", folder.path());
  (void)map_anonymous_file(pages(), bytes);
  EXPECT_EQ(folder.count(), 0u);
}

TEST_F(AnonymousFile, DoesNothingWhereTheFolderIsMemoryOrNoneAtAll) {
  for (const char* folder : {"/dev/shm", "/does/not/exist"}) {
    const Environment temporary("TMPDIR", folder);
    EXPECT_FALSE(map_anonymous_file(pages(), bytes)) << folder;
    EXPECT_EQ(pages()[kSize / 2], std::byte{0});
    pages()[kSize / 2] = std::byte{0};  // and may be written still
  }
}

}  // namespace
}  // namespace tenon::files
