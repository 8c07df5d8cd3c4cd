// copier_records: the orders of the front end to mpsd-device-copier and their outcomes, of fixed
// size.
//
// The front end sends an order, and waits for its outcome before it sends the next. The copied
// bytes lie in two segments, one for each direction, so that each byte has one writing process. A
// copy that is larger than a segment goes in pieces. The front end treats outcomes as hostile.
//
//   front end                                      mpsd-device-copier
//   CopyOrder, 112 bytes   ──────────────────▶     Perform()
//     before kWrite: fills its segment             kWrite reads it
//                          ◀──────────────────     CopyOutcome, 24 bytes
//     after kRead: reads the copier's segment      kRead has filled it
//
// Both structs go over the socket as they lie in memory: the processes are of one build.
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

// What an order asks for.
enum class CopyVerb : uint32_t {
  kStart,  // comes first, with both segments' descriptors; `bytes` is each one's size
  kOpen,   // opens memory of a client, which is `region` from now on
  kClose,  // closes `region`
  kRead,   // copies from the region into the copier's segment
  kWrite,  // copies from the front end's segment into the region
};

// One order. Members that its verb does not use are 0.
struct CopyOrder {
  uint64_t number = 0;  // the outcome repeats it
  CopyVerb verb = CopyVerb::kStart;
  uint32_t confines_itself = 0;          // kStart: whether it gives up its rights first
  uint64_t region = 0;                   // the front end's number for it
  int64_t device = 0;                    // kOpen: on which device the memory lies
  uint64_t offset = 0;                   // kRead, kWrite: in the region
  uint64_t bytes = 0;                    // of the copy; kOpen: of the region; kStart: see above
  char handle[kDeviceHandleBytes] = {};  // kOpen: what the client registered
};

// How an order ended. After anything but kDone the bytes in the segments mean nothing.
enum class CopyResult : uint32_t {
  kDone,
  kNoDriver,   // there is no CUDA driver on this host
  kNoDevice,   // the driver knows no device
  kBadDevice,  // it has no device of that number
  kBadHandle,  // the driver cannot open it
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
  uint32_t devices = 0;      // in the outcome of kStart: how many devices there are
  uint32_t is_confined = 0;  // likewise: 1 when it gave up all the rights that it should
};

static_assert(sizeof(CopyOrder) == 112 && std::is_trivially_copyable_v<CopyOrder>);
static_assert(sizeof(CopyOutcome) == 24 && std::is_trivially_copyable_v<CopyOutcome>);

}  // namespace mpsd
