// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tenon::plugin::worker {

// The layout of the file that the host shares with its worker: a ControlBlock, then tensors at offsets that the host chooses. The file is
// sparse: pages that were never written take no memory.
constexpr uint64_t kFileBytes = uint64_t{1} << 40;
constexpr uint64_t kPage = 4096;
constexpr int kFile = 3;                   ///< descriptor of the shared file in the worker
constexpr int kLibrary = 4;                ///< descriptor of the library in the worker, where it is in sealed memory
constexpr const char* kSealed = "sealed";  ///< argument of the worker where the library is in sealed memory

/// Which side owns a lane.
enum class LaneOwner : uint32_t { host = 0, requested = 1, worker = 2 };

/// The wait state of one side of a lane.
struct Waiter {
  std::atomic<uint32_t> sleeps;  ///< 1: it sleeps until it is woken
};

/// A channel between one thread of the host and one of the worker.
struct Lane {
  static constexpr size_t kRoom = 256 * 1024;  ///< bytes of `room`
  alignas(64) std::atomic<LaneOwner> owner;
  Waiter host, worker;
  std::atomic<uint32_t> stop;    ///< 1: the run is to stop
  std::atomic<uint32_t> blamed;  ///< 1: the request on this lane ended the worker
  uint32_t size, more;           ///< bytes of the message in `room`; more: 1 where the message continues
  alignas(64) std::array<char, kRoom> room;
};

/// A ring buffer of log lines, each with severity, length and text.
struct LogStream {
  static constexpr size_t kRoom = 256 * 1024;
  alignas(64) std::atomic<uint64_t> written, read;  ///< bytes in all, since the worker started
  std::array<char, kRoom> room;
};

/// The part of the shared file for messages and the state of the worker.
struct ControlBlock {
  static constexpr uint32_t kLanes = 256, kOutermost = 64;  ///< kOutermost: lanes for requests that are not made within another request
  std::atomic<uint32_t> lanes;                              ///< number of lanes in use
  std::atomic<uint32_t> signal;                             ///< number of the signal that ended the worker
  std::atomic<uint64_t> address;                            ///< of the access that ended the worker; 0: none
  std::atomic<uint64_t> data_bytes;                         ///< data memory of the worker when it ended
  LogStream log;
  std::array<Lane, kLanes> lane;
};
constexpr uint64_t kDataStart = (sizeof(ControlBlock) + kPage - 1) / kPage * kPage;

/// Sets the owner, and wakes the other side, which waits on `waiter`.
void hand_over(std::atomic<LaneOwner>& owner, LaneOwner to, Waiter& waiter);
/// Waits until `owner` is `wanted`: spins for about 50 us, then sleeps. False: timeout.
bool await_owner(std::atomic<LaneOwner>& owner, LaneOwner wanted, Waiter& waiter, std::chrono::microseconds timeout);
/// Sleeps (futex) until the word differs from `known` or wake_all() is called.
void sleep_on(std::atomic<uint32_t>& word, uint32_t known);
void wake_all(std::atomic<uint32_t>& word);

}  // namespace tenon::plugin::worker
