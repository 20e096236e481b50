// SPDX-License-Identifier: Apache-2.0
#include "files/npy.h"

#include <gtest/gtest.h>

#include "files/npy_header.h"
#include "files/npz.h"
#include "files/zip.h"
#include "temporary_folder.h"

namespace tenon::files {
namespace {

std::span<const std::byte> view(const std::string& bytes) { return std::as_bytes(std::span(bytes)); }
Result<Tensor> read(const std::string& bytes) { return read_npy(view(bytes), nullptr, "test.npy"); }

std::string file_with(const std::string& dict, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>((dict.size() >> (8 * i)) & 0xff);
  return out + dict + data;
}

TEST(Npy, EveryDTypeRoundTrips) {
  for (DType dtype : {DType::boolean, DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64,
                      DType::f16, DType::f32, DType::f64, DType::c64, DType::c128}) {
    Tensor t = *Tensor::make(dtype, {2, 3});
    for (int i = 0; i < 6; ++i) t.set_number(i, i % 2);
    const std::string bytes = npy_bytes(t);
    const auto back = read(bytes);
    ASSERT_TRUE(back.has_value()) << back.error().text();
    EXPECT_EQ(back->dtype(), dtype);
    EXPECT_EQ(back->shape(), t.shape());
    EXPECT_EQ(numbers_of(*back), numbers_of(t));
    EXPECT_EQ((bytes.size() - static_cast<size_t>(t.byte_size())) % 64, 0u);
  }
}

TEST(Npy, DTypesThatNumpyLacksAreWidened) {
  EXPECT_EQ(read(npy_bytes(Tensor::scalar(DType::bf16, 1.5)))->dtype(), DType::f32);
  EXPECT_EQ(read(npy_bytes(Tensor::scalar(DType::i4, -3)))->dtype(), DType::i8);
  EXPECT_EQ(read(npy_bytes(Tensor::scalar(DType::i4, -3)))->integer(0), -3);
}

TEST(Npy, StringsRoundTripAsUnicode) {
  const Tensor t = Tensor::of_strings({3}, {"", "gr\xc3\xbc\xc3\x9f", "\xf0\x9f\x99\x82!"});
  EXPECT_EQ(read(npy_bytes(t))->strings(), t.strings());
  EXPECT_EQ(read(npy_bytes(Tensor::of_strings({1}, {"a\xff"})))->strings()[0], "a\xef\xbf\xbd");
  const auto bytes = read(file_with("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", std::string("ab\0c\0\0", 6)));
  EXPECT_EQ(bytes->strings(), (std::vector<std::string>{"ab", "c"}));
}

TEST(Npy, ReadsBigEndianAndFortranOrder) {
  const auto big = read(file_with("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", std::string("\0\1\1\0", 4), 2));
  EXPECT_EQ(integers_of(*big), (std::vector<int64_t>{1, 256}));
  const auto fortran =
      read(file_with("{\"shape\": (2, 3), \"fortran_order\": True, \"descr\": \"|u1\"}\n", std::string("\0\3\1\4\2\5", 6), 3));
  EXPECT_EQ(integers_of(*fortran), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Npy, ReferencesBytesOfAKeeper) {
  const auto bytes = std::make_shared<std::string>(npy_bytes(Tensor::of_i64({2}, std::vector<int64_t>{7, 8})));
  const auto t = read_npy(view(*bytes), bytes, "x");
  EXPECT_GE(reinterpret_cast<const char*>(t->data()), bytes->data());
  EXPECT_LT(reinterpret_cast<const char*>(t->data()), bytes->data() + bytes->size());
}

TEST(Npy, RefusesWhatItCannotRead) {
  const auto code = [](const std::string& dict) { return read(file_with(dict, "12345678")).error().code(); };
  EXPECT_EQ(code("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), Code::not_supported);
  EXPECT_EQ(code("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), Code::not_supported);
  EXPECT_EQ(code("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}"), Code::not_supported);
  EXPECT_EQ(code("{'descr': '<f16', 'fortran_order': False, 'shape': ()}"), Code::bad_file);  // and too short
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), Code::bad_file);
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False}"), Code::bad_file);
  EXPECT_EQ(code("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}"), Code::bad_file);
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"), Code::bad_file);
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"), Code::size_overflow);
  EXPECT_EQ(code("{'descr': '<U0', 'fortran_order': False, 'shape': (1073741824,)}"), Code::limit_exceeded);
  std::string deep = "1";
  for (int i = 0; i < 64; ++i) deep += ",1";
  EXPECT_EQ(code("{'descr': '<f4', 'fortran_order': False, 'shape': (" + deep + ")}"), Code::limit_exceeded);
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string bytes = npy_bytes(Tensor::of_i64({2}, std::vector<int64_t>{7, 8}));
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(read(bytes.substr(0, size)).has_value()) << size;
}

TEST(Npz, RoundTrips) {
  TemporaryFolder folder;
  const NamedTensors tensors = {{"a", Tensor::of_i64({2}, std::vector<int64_t>{1, 2})}, {"dir/b", Tensor::scalar(DType::f32, 0.5)}};
  ASSERT_TRUE(write_npz(folder / "x.npz", tensors).has_value());
  EXPECT_EQ(folder.count(), 1u);
  const auto back = read_npz(folder / "x.npz");
  ASSERT_TRUE(back.has_value()) << back.error().text();
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ((*back)[1].first, "dir/b");
  EXPECT_EQ((*back)[0].second.integer(1), 2);
}

// As numpy.savez_compressed writes array([1, 2, 3], uint8): deflated, with a zip64 field in the local header.
constexpr char kDeflated[] =
    "\x50\x4b\x03\x04\x2d\x00\x00\x00\x08\x00\x00\x00\x21\x00\x2a\xe3\x8e\xb1\xff\xff\xff\xff\xff\xff\xff\xff\x05\x00\x14\x00\x61\x2e"
    "\x6e\x70\x79\x01\x00\x10\x00\x83\x00\x00\x00\x00\x00\x00\x00\x47\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50"
    "\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x5e\x53\x6a\xa8\xae\xa3\xa0\x9e\x96\x5f\x54\x52\x94\x98\x17\x9f\x5f\x94\x92\x0a"
    "\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\xc6\x3a\x9a\x3a\x0a\xb5\x0a\x14\x00\x2e\x46\x26\x66\x00\x50\x4b"
    "\x01\x02\x2d\x03\x2d\x00\x00\x00\x08\x00\x00\x00\x21\x00\x2a\xe3\x8e\xb1\x47\x00\x00\x00\x83\x00\x00\x00\x05\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00\x61\x2e\x6e\x70\x79\x50\x4b\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00\x33\x00\x00"
    "\x00\x7e\x00\x00\x00\x00\x00";

TEST(Npz, ReadsDeflatedFilesAndChecksThem) {
  std::string archive(kDeflated, sizeof(kDeflated) - 1);
  const auto tensors = read_npz(view(archive), "x");
  ASSERT_TRUE(tensors.has_value()) << tensors.error().text();
  EXPECT_EQ(integers_of((*tensors)[0].second), (std::vector<int64_t>{1, 2, 3}));
  for (size_t at = 60; at < 100; ++at) {
    std::string bad = archive;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    EXPECT_FALSE(read_npz(view(bad), "x").has_value()) << at;
  }
}

TEST(Npz, EveryTruncationAndFlipIsAnErrorOrHarmless) {
  const std::string bytes = npy_bytes(*Tensor::make(DType::u8, {3}));
  ZipWriter zip;
  const std::string archive = zip.begin("a.npy", bytes.size(), zip_crc(view(bytes))) + bytes + zip.end();
  for (size_t size = 0; size < archive.size(); ++size) EXPECT_FALSE(read_npz(view(archive.substr(0, size)), "x").has_value()) << size;
  for (size_t i = 0; i < archive.size() * 8; ++i) {
    std::string bad = archive;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
    (void)read_npz(view(bad), "x", {.tensor_bytes = 1 << 20});
  }
}

/// General purpose flags of the local and the central header; bit 11: the name is UTF-8.
std::pair<int, int> zip_flags(const std::string& name) {
  ZipWriter zip;
  const std::string archive = zip.begin(name, 0, 0), directory = zip.end();
  return {archive[6] | archive[7] << 8, directory[8] | directory[9] << 8};
}

TEST(Npz, TensorsOfADeviceAreNotWritten) {
  const TemporaryFolder folder;
  const float data[4] = {};
  const Tensor outside = Tensor::view(DType::f32, {4}, data, nullptr, {"gpu", 1});
  const auto path = folder / "x";
  for (const auto& written : {write_npy(path, outside), write_npz(path, {{"x", outside}})}) {
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), Code::not_supported);
    EXPECT_EQ(written.error()->found, "memory of device 'gpu' 1");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(Npz, NamesBeyondAsciiAreMarkedAsUtf8) {
  EXPECT_EQ(zip_flags("plain.npy"), std::pair(0, 0));
  EXPECT_EQ(zip_flags("Größe-λ.npy"), std::pair(0x800, 0x800));
}

TEST(Npz, TheSumOfSizesIsLimited) {
  ZipWriter zip;
  const std::string bytes = npy_bytes(*Tensor::make(DType::u8, {1000}));
  const std::string archive = zip.begin("a.npy", bytes.size(), zip_crc(view(bytes))) + bytes + zip.end();
  EXPECT_EQ(read_npz(view(archive), "x", {.tensor_bytes = 999}).error().code(), Code::limit_exceeded);
}

}  // namespace
}  // namespace tenon::files
