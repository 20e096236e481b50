// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tenon::plugin::worker {

// What lies in the file that a process shares with its worker: ControlBlock, and after it tensors, wherever the host puts them. The file
// has room for more than anybody uses; what nobody touched takes no memory.
constexpr uint64_t kFileBytes = uint64_t{1} << 40;
constexpr uint64_t kPage = 4096;
constexpr int kFile = 3;                   ///< the descriptor of it in the worker
constexpr int kLibrary = 4;                ///< of the library, where that lies in sealed memory
constexpr const char* kSealed = "sealed";  ///< says to the worker that it does

/// Which side owns a lane.
enum class LaneOwner : uint32_t { host = 0, requested = 1, worker = 2 };

/// The wait state of one side of a lane.
struct Waiter {
  std::atomic<uint32_t> sleeps;
};

/// A channel between one thread of the host and one of the worker.
struct Lane {
  static constexpr size_t kRoom = 256 * 1024;
  alignas(64) std::atomic<LaneOwner> owner;
  Waiter host, worker;
  std::atomic<uint32_t> stop;    ///< the run shall end
  std::atomic<uint32_t> blamed;  ///< the worker ended in this lane's thread
  uint32_t size, more;           ///< bytes of a message here; 1: and then others
  alignas(64) std::array<char, kRoom> room;
};

/// Lines of the log, each a severity, a length and a text: written and read as a stream of bytes.
struct LogStream {
  static constexpr size_t kRoom = 256 * 1024;
  alignas(64) std::atomic<uint64_t> written, read;
  std::array<char, kRoom> room;
};

struct ControlBlock {
  static constexpr uint32_t kLanes = 256, kOutermost = 64;  ///< of which questions may have that are within no other
  std::atomic<uint32_t> lanes;                              ///< that the host uses
  std::atomic<uint32_t> signal;                             ///< that ended the worker
  std::atomic<uint64_t> address;                            ///< that it could not touch
  std::atomic<uint64_t> data_bytes;                         ///< that it had then
  LogStream log;
  std::array<Lane, kLanes> lane;
};
constexpr uint64_t kDataStart = (sizeof(ControlBlock) + kPage - 1) / kPage * kPage;

/// Passes ownership to the other side, which `waiter` is.
void hand_over(std::atomic<LaneOwner>& owner, LaneOwner to, Waiter& waiter);
/// Whether it came to be `wanted` in time: first looks again and again for some 50 us, then sleeps.
bool await_owner(std::atomic<LaneOwner>& owner, LaneOwner wanted, Waiter& waiter, std::chrono::microseconds timeout);
/// Sleeps until the word is another than `known`, or somebody calls wake_all.
void sleep_on(std::atomic<uint32_t>& word, uint32_t known);
void wake_all(std::atomic<uint32_t>& word);

}  // namespace tenon::plugin::worker
