// limits: every bound of the system, with the relations that they must keep.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpsd {

// A request.
inline constexpr size_t kMaxTensors = 64;
inline constexpr size_t kMaxRank = 8;  // without the batch dim
inline constexpr uint32_t kMaxBatchRows = 1024;
inline constexpr size_t kMaxNameBytes = 128;
inline constexpr uint32_t kMaxAnswers = 65536;  // for a request to a decoupled model
inline constexpr int64_t kDefaultTimeoutNs = 30LL * 1'000'000'000;
inline constexpr int64_t kMaxTimeoutNs = 300LL * 1'000'000'000;
inline constexpr uint64_t kDefaultMaxMessageBytes = 64ULL << 20;

// A connection.
inline constexpr uint32_t kDefaultConnections = 1024;
inline constexpr uint32_t kDefaultStreams = 128;  // concurrent calls
inline constexpr uint64_t kDefaultMetadataBytes = 8 << 10;
inline constexpr int64_t kDefaultKeepaliveNs = 60LL * 1'000'000'000;
inline constexpr int64_t kDefaultHandshakeNs = 10LL * 1'000'000'000;

// How much of arriving requests the server holds for all connections together. gRPC reads a message
// to its end before it looks at its size, so this also bounds messages that are too large.
inline constexpr uint64_t kDefaultBufferedBytes = 128ULL << 20;
inline constexpr uint64_t kLeastBufferedMessages = 2;  // of the largest size

// Calls that are armed on each completion queue. Further calls wait inside gRPC.
inline constexpr uint32_t kArmedInferCalls = 1024;
inline constexpr uint32_t kArmedGenericCalls = 32;
inline constexpr uint32_t kArmedStreamCalls = 16;  // each arms another one when it arrives

// Requests of one stream that are being served, or whose answers are not written yet.
inline constexpr size_t kMaxStreamRequests = 256;

// A model's queue.
inline constexpr uint32_t kDefaultQueueRequests = 256;
inline constexpr uint64_t kDefaultQueueBytes = 512ULL << 20;
inline constexpr uint32_t kMaxDispatches = 3;
inline constexpr uint32_t kMaxOpenSlabs = 64;  // shape keys with a slab of their own

// The memory plane.
inline constexpr uint32_t kMaxLanes = 32;         // of a worker
inline constexpr uint32_t kMaxWorkers = 64;       // of a pool
inline constexpr uint32_t kRingEntries = 4;       // of a lane, in each direction
inline constexpr uint32_t kMaxLaneDepth = 2;      // one running and one queued batch
inline constexpr uint32_t kMaxRuns = 128;         // of a batch
inline constexpr uint32_t kMaxByteCounts = 512;   // of a batch: its runs times its BYTES inputs
inline constexpr uint32_t kMaxSlabSegments = 64;  // of a pool
inline constexpr uint64_t kTensorAlignment = 64;
inline constexpr uint64_t kSlabBytesTarget = 4ULL << 20;
// The largest slab that several requests share. Rows whose slab would be larger get one extent for
// each request.
inline constexpr uint64_t kMaxSharedSlabBytes = 64ULL << 20;
inline constexpr size_t kCacheLineBytes = 128;  // Apple's; twice x86's
inline constexpr size_t kErrorTextBytes = 512;

// A reply of up to this many bytes is copied, which costs less than a slice of the slab.
inline constexpr size_t kCopiedReplyBytes = 16 << 10;

// Answers that one connection may keep in the workers' memory; further ones are copied.
inline constexpr uint64_t kDefaultConnectionPinBytes = 32ULL << 20;
// Copies of large answers that all clients together may leave unread.
inline constexpr uint64_t kDefaultUnreadCopyBytes = 256ULL << 20;
// A connection that has read nothing for this long may keep no further answers there.
inline constexpr int64_t kSlowReaderNs = 100LL * 1'000'000;

// The control socket.
inline constexpr uint32_t kMaxMessageBytes = 4U << 20;
inline constexpr uint32_t kMaxMessageFds = 16;
inline constexpr uint32_t kFixedAttachFds = 3;  // mailbox, worker segment, bell

static_assert((kRingEntries & (kRingEntries - 1)) == 0, "ring indices wrap by masking");
static_assert(kMaxLaneDepth < kRingEntries, "credits: a ring can never be full");
static_assert(kFixedAttachFds + 1 <= kMaxMessageFds, "further segments have messages of their own");
static_assert(kMaxByteCounts >= kMaxTensors, "one run of any model fits");
static_assert(kMaxTimeoutNs >= kDefaultTimeoutNs);
static_assert(kDefaultQueueBytes >= kDefaultMaxMessageBytes, "one legal request always fits");
static_assert(kMaxBatchRows >= kMaxRuns);

}  // namespace mpsd
