// copier_records: fixed-size orders of the front end to mpsd-device-copier, and their outcomes.
//
// The front end sends one order at a time and waits for its outcome. The copied bytes lie in two
// segments, one per direction, so that each byte has one writing process. A copy larger than a
// segment goes in pieces. The front end treats outcomes as hostile.
//
//   front end                                      mpsd-device-copier
//   CopyOrder, 112 bytes   ──────────────────▶     Perform()
//     before kWrite: fills its segment             kWrite reads it
//                          ◀──────────────────     CopyOutcome, 24 bytes
//     after kRead: reads the copier's segment      kRead has filled it
//
// Both structs go over the socket as they lie in memory: both processes are from one build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mpsd {

inline constexpr size_t kDeviceHandleBytes = 64;  // the driver's CUipcMemHandle
inline constexpr uint64_t kCopierSegmentBytes = 8ULL << 20;

// How many regions the copier may have open. More than clients may register, because an
// unregistered region stays open until the requests that use it have ended.
inline constexpr size_t kMaxOpenRegions = 4096;

enum class CopyVerb : uint32_t {
  kStart,  // comes first, with both segments' descriptors; `bytes` is the size of each segment
  kOpen,   // opens a client's memory and calls it `region` from now on
  kClose,  // closes `region`
  kRead,   // copies from the region into the copier's segment
  kWrite,  // copies from the front end's segment into the region
};

// One order. Members that its verb does not use are 0.
struct CopyOrder {
  uint64_t number = 0;  // the outcome repeats it
  CopyVerb verb = CopyVerb::kStart;
  uint32_t confines_itself = 0;  // kStart: whether the copier gives up its rights first
  uint64_t region = 0;           // the front end's number for the region
  int64_t device = 0;            // kOpen: the device that has the memory
  uint64_t offset = 0;           // kRead, kWrite: offset in the region
  uint64_t bytes = 0;            // size of the copy; kOpen: the region; kStart: each segment
  char handle[kDeviceHandleBytes] = {};  // kOpen: the handle that the client registered
};

// How an order ended. The bytes in the segments are valid only after kDone.
enum class CopyResult : uint32_t {
  kDone,
  kNoDriver,   // there is no CUDA driver on this host
  kNoDevice,   // the driver knows no device
  kBadDevice,  // the driver has no device of that number
  kBadHandle,  // the driver cannot open the memory
  kTooSmall,   // the memory has fewer bytes than its owner said
  kBadOrder,   // the order contradicts itself or the state
  kFailed,     // the driver refused the copy
  kLost,       // the device is lost to the copier, which then ends
};
inline constexpr uint32_t kCopyResults = 9;

// The answer to one order. The front end gives the copier up when `number` is not the order's.
struct CopyOutcome {
  uint64_t number = 0;
  CopyResult result = CopyResult::kDone;
  int32_t driver_code = 0;   // the driver's error, for the log
  uint32_t devices = 0;      // kStart: how many devices there are
  uint32_t is_confined = 0;  // kStart: 1 if the copier gave up all the rights that it should
};

static_assert(sizeof(CopyOrder) == 112 && std::is_trivially_copyable_v<CopyOrder>);
static_assert(sizeof(CopyOutcome) == 24 && std::is_trivially_copyable_v<CopyOutcome>);

}  // namespace mpsd
