// Every bound of the system, in one place, with the relations they must keep.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpsd {

// A request.
inline constexpr size_t kMaxTensors = 64;
inline constexpr size_t kMaxRank = 8;  // the batch dim not counted
inline constexpr uint32_t kMaxBatchRows = 1024;
inline constexpr size_t kMaxNameBytes = 128;
inline constexpr uint32_t kMaxAnswers = 65536;  // of a decoupled model, a request
inline constexpr int64_t kDefaultTimeoutNs = 30LL * 1'000'000'000;
inline constexpr int64_t kMaxTimeoutNs = 300LL * 1'000'000'000;
inline constexpr uint64_t kDefaultMaxMessageBytes = 64ULL << 20;

// A connection.
inline constexpr uint32_t kDefaultConnections = 1024;
inline constexpr uint32_t kDefaultStreams = 128;  // calls at a time
inline constexpr uint64_t kDefaultMetadataBytes = 8 << 10;
inline constexpr int64_t kDefaultKeepaliveNs = 60LL * 1'000'000'000;
inline constexpr int64_t kDefaultHandshakeNs = 10LL * 1'000'000'000;

// What all connections together may have the server hold of requests that still arrive. gRPC reads
// a message to its end before it looks at its size, so that this bounds one that is too large too.
inline constexpr uint64_t kDefaultBufferedBytes = 128ULL << 20;
inline constexpr uint64_t kLeastBufferedMessages = 2;  // of the largest size

// Calls that wait armed on each completion queue; a call beyond them waits inside gRPC.
inline constexpr uint32_t kArmedInferCalls = 1024;
inline constexpr uint32_t kArmedGenericCalls = 32;
inline constexpr uint32_t kArmedStreamCalls = 16;  // each arms another when it arrives

// Requests of one stream that are inside, or whose answers are not written yet.
inline constexpr size_t kMaxStreamRequests = 256;

// A model's queue.
inline constexpr uint32_t kDefaultQueueRequests = 256;
inline constexpr uint64_t kDefaultQueueBytes = 512ULL << 20;
inline constexpr uint32_t kMaxDispatches = 3;
inline constexpr uint32_t kMaxOpenSlabs = 64;  // shape keys with a slab of their own

// The memory plane.
inline constexpr uint32_t kMaxLanes = 32;         // a worker
inline constexpr uint32_t kMaxWorkers = 64;       // a pool
inline constexpr uint32_t kRingEntries = 4;       // a lane and direction
inline constexpr uint32_t kMaxLaneDepth = 2;      // one running and one queued batch
inline constexpr uint32_t kMaxRuns = 128;         // a batch
inline constexpr uint32_t kMaxByteCounts = 512;   // a batch: its runs times its BYTES inputs
inline constexpr uint32_t kMaxSlabSegments = 64;  // a pool
inline constexpr uint64_t kTensorAlignment = 64;
inline constexpr uint64_t kSlabBytesTarget = 4ULL << 20;
// A slab that several requests share is not larger; rows for which it would be get one extent a
// request.
inline constexpr uint64_t kMaxSharedSlabBytes = 64ULL << 20;
inline constexpr size_t kCacheLineBytes = 128;  // Apple's; twice x86's
inline constexpr size_t kErrorTextBytes = 512;

// A reply whose bytes are not more than this is copied: a slice of the slab costs more than it.
inline constexpr size_t kCopiedReplyBytes = 16 << 10;

// Answers that one connection may keep in workers' memory; what goes beyond is copied.
inline constexpr uint64_t kDefaultConnectionPinBytes = 32ULL << 20;
// Copies of large answers that all clients together may leave unread.
inline constexpr uint64_t kDefaultUnreadCopyBytes = 256ULL << 20;
// A connection that has let nothing go for this long keeps no further answer there.
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
