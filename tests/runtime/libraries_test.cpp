// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "runtime/libraries.h"

namespace tenon::tests {
namespace {

namespace fs = std::filesystem;
using namespace runtime;

constexpr LibraryName kMath{.backend = "math", .package = "maths", .folder = "maths/lib", .file = "libmaths.so", .soname = "libm.so.6"};
constexpr LibraryName kNone{.backend = "math", .package = "maths", .folder = "maths/lib", .file = "libmaths.so", .soname = "libno.so.9"};

class LibrariesTest : public testing::Test {
 protected:
  LibrariesTest() { fs::create_directories(folder_); }
  ~LibrariesTest() override {
    for (auto& [name, value] : before_) value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    fs::remove_all(folder_);
  }
  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    before_.emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
    setenv(name.c_str(), value.c_str(), 1);
  }
  fs::path made(const fs::path& file, std::string_view text = "") {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
    return folder_ / file;
  }
  static Diagnostic refused(const LibraryName& name, const Libraries& libraries) {
    const auto opened = open_library(name, libraries);
    EXPECT_FALSE(opened);
    return opened ? Diagnostic() : *opened.error();
  }

  const fs::path folder_ = fs::temp_directory_path() / ("tenon_libraries_" + std::to_string(getpid()));
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(LibrariesTest, AreOpenedAtTheGivenPath) {
  const auto system = open_library(kMath, {.files = {}, .packages = {folder_}});
  ASSERT_TRUE(system) << system.error().text();
  ASSERT_TRUE(system->find("cos"));
  EXPECT_FALSE(system->find("no_such_function"));
  const auto said = open_library(kNone, {.files = {{"math", system->file}}, .packages = {}});
  ASSERT_TRUE(said) << said.error().text();
  EXPECT_EQ(said->file, system->file);
}

TEST_F(LibrariesTest, OfAPackageComeBeforeTheSystems) {
  fs::create_directories(folder_ / "maths/lib");
  fs::copy_file(open_library(kMath, {.files = {}, .packages = {folder_}})->file, folder_ / "maths/lib/libmaths.so.3");
  const auto opened = open_library(kMath, {.files = {}, .packages = {folder_ / "elsewhere", folder_}});
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->file, folder_ / "maths/lib/libmaths.so.3");
}

/// As wheels name them: libopenvino_c.so.2641, libonnxruntime.so.1.31.1.
TEST_F(LibrariesTest, TheNewestOfSeveralVersionsIsUsed) {
  const fs::path whole = open_library(kMath, {.files = {}, .packages = {folder_}})->file;
  fs::create_directories(folder_ / "maths/lib");
  for (const char* name : {"libmaths.so.1.9.0", "libmaths.so.1.31.1", "libmaths.so.1.4.2"})
    fs::copy_file(whole, folder_ / "maths/lib" / name);
  made("maths/lib/libmaths.sock", "no library");
  made("maths/lib/libmaths_more.so", "no library");
  const auto opened = open_library(kMath, {.files = {}, .packages = {folder_}});
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->file.filename(), "libmaths.so.1.31.1");
  fs::copy_file(whole, folder_ / "maths/lib/libmaths.so.2641");
  EXPECT_EQ(open_library(kMath, {.files = {}, .packages = {folder_}})->file.filename(), "libmaths.so.2641");
}

TEST_F(LibrariesTest, MissingOnesNameThePlacesThatWereSearched) {
  const Diagnostic d = refused(kNone, {.files = {}, .packages = {folder_}});
  EXPECT_EQ(d.code, Code::file_missing);
  EXPECT_EQ(d.place, "backend 'math'");
  EXPECT_NE(d.found.find((folder_ / "maths/lib").string()), d.found.npos) << d.text();
  EXPECT_NE(d.found.find("libno.so.9"), d.found.npos) << d.text();
  EXPECT_NE(d.advice.find("--backend-lib math=FILE"), d.advice.npos) << d.text();
}

TEST_F(LibrariesTest, InvalidOnesAreNotReplacedByOthers) {
  made("maths/lib/libmaths.so.1", "no library");
  EXPECT_EQ(refused(kMath, {.files = {}, .packages = {folder_}}).code, Code::bad_file);
  EXPECT_EQ(refused(kMath, {.files = {{"math", folder_ / "maths/lib/libmaths.so.1"}}, .packages = {}}).code, Code::bad_file);
  EXPECT_EQ(refused(kMath, {.files = {{"math", folder_ / "nothing"}}, .packages = {}}).code, Code::file_missing);
}

TEST_F(LibrariesTest, AreLookedForInTheActivePython) {
  made("env/lib/python3.9/site-packages/a.py");
  made("env/lib/python3.11/site-packages/a.py");
  made("env/pyvenv.cfg");
  fs::permissions(made("env/bin/python3"), fs::perms::owner_all);
  const std::vector<fs::path> want = {folder_ / "env/lib/python3.11/site-packages", folder_ / "env/lib/python3.9/site-packages"};
  set("VIRTUAL_ENV", (folder_ / "env").string());
  EXPECT_EQ(active_packages(), want);
  set("VIRTUAL_ENV", "");
  set("PATH", "/nowhere:" + (folder_ / "env/bin").string());
  EXPECT_EQ(active_packages(), want);
  set("PATH", "/nowhere");
  EXPECT_TRUE(active_packages().empty());
}

}  // namespace
}  // namespace tenon::tests
