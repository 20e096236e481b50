// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "files/atomic_write.h"
#include "files/external_data.h"
#include "files/mapped_file.h"
#include "temporary_folder.h"

namespace tenon::files {
namespace {

namespace fs = std::filesystem;

std::string text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

TEST(MappedFile, LetsMemoryGoAndReadsItAgain) {
  const TemporaryFolder folder;
  std::string big(100'000, '\0');
  for (size_t k = 0; k < big.size(); ++k) big[k] = static_cast<char>(k * 7);
  ASSERT_TRUE(write_file(folder / "big", big));
  const auto file = *MappedFile::open(folder / "big");
  for (const auto& [from, count] : {std::pair<size_t, size_t>{0, 100'000}, {1, 50'000}, {90'000, 10'000}, {5, 3}, {0, 0}}) {
    MappedFile::release_pages(file->bytes().subspan(from, count));
    EXPECT_EQ(text(file->bytes()), big);
  }
  std::string other = big;  // memory that no file gives again
  MappedFile::release_pages(std::as_bytes(std::span(other)));
  EXPECT_EQ(other, big);
}

/// Pages of files that this process has in memory.
int64_t file_pages() {
  std::ifstream of("/proc/self/statm");
  int64_t all = 0, resident = 0, of_files = 0;
  of >> all >> resident >> of_files;
  return of_files;
}

TEST(MappedFile, GivesMemoryBack) {
  const TemporaryFolder folder;
  constexpr int64_t kPages = 4096, kPage = 4096;
  ASSERT_TRUE(write_file(folder / "big", std::string(kPages * kPage, 'x')));
  const auto file = *MappedFile::open(folder / "big");
  EXPECT_EQ(std::ranges::count(file->bytes(), std::byte('x')), kPages * kPage);
  const int64_t before = file_pages();
  MappedFile::release_pages(file->bytes());
  EXPECT_LT(file_pages(), before - kPages / 2);
}

struct AccessTest : testing::Test {
  TemporaryFolder folder;
  void SetUp() override {
    fs::create_directories(folder / "model/sub");
    ASSERT_TRUE(write_file(folder / "model/w.bin", "0123456789"));
    ASSERT_TRUE(write_file(folder / "model/sub/w.bin", "sub"));
    ASSERT_TRUE(write_file(folder / "secret", "secret"));
  }
  ExternalData data{folder / "model"};
  Code code(const std::string& location) { return data.slice(location, 0, std::nullopt).error().code(); }
};

TEST_F(AccessTest, SlicesFilesBelowTheFolder) {
  EXPECT_EQ(text(data.slice("w.bin", 2, 3)->bytes), "234");
  EXPECT_EQ(text(data.slice("./sub//w.bin", 0, std::nullopt)->bytes), "sub");
  EXPECT_EQ(data.slice("w.bin", 10, 0)->bytes.size(), 0u);
  EXPECT_EQ(data.slice("w.bin", 0, 1)->keeper, data.slice("w.bin", 1, 1)->keeper);
}

TEST_F(AccessTest, RefusesRangesOutsideTheFile) {
  EXPECT_EQ(data.slice("w.bin", 11, 0).error().code(), Code::bad_file);
  EXPECT_EQ(data.slice("w.bin", 5, 6).error().code(), Code::bad_file);
  EXPECT_EQ(data.slice("w.bin", 1, UINT64_MAX).error().code(), Code::bad_file);
  EXPECT_EQ(data.slice("w.bin", UINT64_MAX, 2).error().code(), Code::bad_file);
}

TEST_F(AccessTest, RefusesPathsThatLeaveTheFolder) {
  for (const char* location : {"../secret", "sub/../../secret", "", "/etc/passwd", "..", "."})
    EXPECT_EQ(code(location), Code::file_unsafe) << location;
  EXPECT_EQ(code(std::string("w.bin\0x", 7)), Code::file_unsafe);
  EXPECT_EQ(code("nothing.bin"), Code::file_missing);
}

TEST_F(AccessTest, RefusesLinksAndWhatIsNoFile) {
  fs::create_symlink(folder / "secret", folder / "model/link");
  fs::create_directory_symlink(folder.path(), folder / "model/up");
  fs::create_hard_link(folder / "secret", folder / "model/hard");
  ASSERT_EQ(mkfifo((folder / "model/pipe").c_str(), 0600), 0);
  for (const char* location : {"link", "up/secret", "hard", "pipe", "sub"}) EXPECT_EQ(code(location), Code::file_unsafe) << location;
  ExternalData chosen(folder / "model", true);
  EXPECT_EQ(text(chosen.slice("hard", 0, std::nullopt)->bytes), "secret");
  EXPECT_EQ(chosen.slice("link", 0, std::nullopt).error().code(), Code::file_unsafe);
}

TEST_F(AccessTest, MapsRegularFilesOnly) {
  EXPECT_EQ(text((*MappedFile::open(folder / "secret"))->bytes()), "secret");
  EXPECT_EQ(MappedFile::open(folder / "none").error().code(), Code::file_missing);
  EXPECT_EQ(MappedFile::open(folder.path()).error().code(), Code::bad_file);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(folder / "pipe").error().code(), Code::bad_file);
  ASSERT_TRUE(write_file(folder / "empty", ""));
  EXPECT_EQ((*MappedFile::open(folder / "empty"))->size(), 0u);
}

TEST_F(AccessTest, WritesWholeFilesOrNone) {
  const size_t before = folder.count();
  {
    auto file = AtomicFile::create(folder / "secret");
    ASSERT_TRUE(file->append("half"));
  }
  EXPECT_EQ(text((*MappedFile::open(folder / "secret"))->bytes()), "secret");
  ASSERT_TRUE(write_file(folder / "secret", "new"));
  EXPECT_EQ(text((*MappedFile::open(folder / "secret"))->bytes()), "new");
  EXPECT_EQ(folder.count(), before);
  auto file = AtomicFile::create(folder / "at");
  ASSERT_TRUE(file->write_at(3, std::as_bytes(std::span("x", 1))));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(text((*MappedFile::open(folder / "at"))->bytes()), std::string("\0\0\0x", 4));
}

/// Pages of a file's bytes that the system keeps in memory.
size_t pages_in_memory(std::span<const std::byte> bytes) {
  std::vector<unsigned char> pages((bytes.size() + 4095) / 4096);
  EXPECT_EQ(mincore(const_cast<std::byte*>(bytes.data()), bytes.size(), pages.data()), 0);
  return static_cast<size_t>(std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; }));
}

TEST_F(AccessTest, AFileThatIsReplacedTakesNoMemory) {
  struct statfs system{};
  ASSERT_EQ(statfs(folder.path().c_str(), &system), 0);
  if (system.f_type == TMPFS_MAGIC) GTEST_SKIP() << "needs a file system on a disk";
  ASSERT_TRUE(write_file(folder / "big", std::string(32 << 20, 'x')));
  const auto old = *MappedFile::open(folder / "big");  // keeps it: the rename gives nothing back
  ASSERT_GT(pages_in_memory(old->bytes()), 4096u);
  ASSERT_TRUE(write_file(folder / "big", "new"));
  EXPECT_LT(pages_in_memory(old->bytes()), 512u);
  EXPECT_EQ(old->bytes().back(), std::byte{'x'});
}

TEST_F(AccessTest, WriteErrorsLeaveNoFile) {
  EXPECT_EQ(write_file(folder / "none/x", "a").error().code(), Code::write_failed);
  EXPECT_EQ(write_file(folder / "model", "a").error().code(), Code::write_failed);
  EXPECT_EQ(write_file("/dev/full", "a").error().code(), Code::write_failed);
}

}  // namespace
}  // namespace tenon::files
