// copier_records: fixed-size orders of the front end to mpsd-device-copier, and their outcomes.
//
// One order at a time. The bytes lie in two segments, one per direction, so that each has one
// writing process; a larger copy goes in pieces. The front end treats outcomes as hostile.
//
//   front end                                      mpsd-device-copier
//   CopyOrder, 112 bytes   ──────────────────▶     Perform()
//     before kWrite: fills its segment             kWrite reads it
//                          ◀──────────────────     CopyOutcome, 24 bytes
//     after kRead: reads the copier's segment      kRead has filled it
//
// The structs travel as they lie in memory: both processes are from one build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mpsd {

inline constexpr size_t kDeviceHandleBytes = 64;  // the driver's CUipcMemHandle
inline constexpr uint64_t kCopierSegmentBytes = 8ULL << 20;

// More than clients may register: an unregistered region stays open until its requests have ended.
inline constexpr size_t kMaxOpenRegions = 4096;

enum class CopyVerb : uint32_t {
  kStart,  // comes first, with both segments' descriptors
  kOpen,   // names a client's memory `region`
  kClose,
  kRead,   // copies from the region into the copier's segment
  kWrite,  // copies from the front end's segment into the region
};

// Members that its verb does not use are 0.
struct CopyOrder {
  uint64_t number = 0;  // the outcome repeats it
  CopyVerb verb = CopyVerb::kStart;
  uint32_t confines_itself = 0;  // kStart: the copier gives up its rights first
  uint64_t region = 0;           // the front end's number
  int64_t device = 0;            // kOpen: the device that has the memory
  uint64_t offset = 0;           // kRead, kWrite: offset in the region
  uint64_t bytes = 0;            // size of the copy; kOpen: the region; kStart: each segment
  char handle[kDeviceHandleBytes] = {};  // kOpen: the handle that the client registered
};

// The bytes in the segments are valid only after kDone.
enum class CopyResult : uint32_t {
  kDone,
  kNoDriver,  // no CUDA driver on this host
  kNoDevice,
  kBadDevice,  // no device of that number
  kBadHandle,  // the driver cannot open the memory
  kTooSmall,   // fewer bytes than the owner said
  kBadOrder,   // contradicts itself or the state
  kFailed,     // the driver refused the copy
  kLost,       // the copier lost the device, and ends
};
inline constexpr uint32_t kCopyResults = 9;

// The front end gives the copier up when `number` is not the order's.
struct CopyOutcome {
  uint64_t number = 0;
  CopyResult result = CopyResult::kDone;
  int32_t driver_code = 0;   // for the log
  uint32_t devices = 0;      // kStart: number of devices
  uint32_t is_confined = 0;  // kStart: 1 if the copier gave up all rights that it should
};

static_assert(sizeof(CopyOrder) == 112 && std::is_trivially_copyable_v<CopyOrder>);
static_assert(sizeof(CopyOutcome) == 24 && std::is_trivially_copyable_v<CopyOutcome>);

}  // namespace mpsd
