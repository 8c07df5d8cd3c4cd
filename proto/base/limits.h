// limits: the fixed bounds of the system and the relations that they must keep.
//
// A client, an operator or another process can meet each bound here. Config keys have theirs in
// server/config; one part's tuning and a format's numbers are with the part or format.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpsd {

// A request.
inline constexpr size_t kMaxTensors = 64;
inline constexpr size_t kMaxRank = 8;  // without the batch dim
inline constexpr uint32_t kMaxBatchRows = 1024;
// Batches that one request may fill. With 32 rows each, more than OpenAI's clients ever send.
inline constexpr uint32_t kMaxRequestParts = 64;
inline constexpr uint64_t kMaxCountedTokens = uint64_t{kMaxBatchRows} << 16;  // in a batch
inline constexpr size_t kMaxNameBytes = 128;
inline constexpr uint32_t kMaxAnswers = 65536;  // to a decoupled model's request
inline constexpr int64_t kDefaultTimeoutNs = 30LL * 1'000'000'000;
inline constexpr int64_t kMaxTimeoutNs = 300LL * 1'000'000'000;
// A client that takes its answer later than this after the deadline is cut off.
inline constexpr int64_t kUntakenAnswerNs = 30LL * 1'000'000'000;
// Names, ids, shapes and parameters of one request on the wire. In memory they may take ten times
// as much.
inline constexpr uint64_t kMaxRequestFieldBytes = 128 << 10;

// Up to this size a request's texts are tokenized on the thread that read them, within 1 ms; longer
// ones on the threads texts-N.
inline constexpr uint64_t kInlineTextBytes = 16 << 10;
// Bounds one request's texts: all rows are as long as the longest text.
inline constexpr uint64_t kMaxTokenTensorBytes = 64 << 20;

// Defaults for one connection, or for all together.
inline constexpr uint32_t kDefaultConnections = 1024;
inline constexpr uint32_t kDefaultOpenCalls = 8192;  // per kind of call
inline constexpr uint64_t kDefaultConnectionPinBytes = 32ULL << 20;
inline constexpr uint64_t kDefaultUnreadCopyBytes = 256ULL << 20;

// Counts requests of one stream that have not ended, or whose answers are not written yet.
inline constexpr size_t kMaxStreamRequests = 256;
// A stream reads no further while requests with more bytes wait for memory.
inline constexpr uint64_t kMaxStreamHeldBytes = 4 << 20;

// A model.
inline constexpr size_t kMaxModels = 256;            // models of a config
inline constexpr size_t kMaxRepositoryModels = 256;  // models of a repository
inline constexpr size_t kMaxBuckets = 64;            // in one padding rule
inline constexpr size_t kMaxSteps = 32;              // steps of a model that runs others

// A model's queue.
inline constexpr uint32_t kDefaultQueueRequests = 256;
inline constexpr uint32_t kMaxQueueRequests = 65536;
inline constexpr uint64_t kDefaultQueueBytes = 512ULL << 20;
inline constexpr uint32_t kMaxDispatches = 3;  // per request, when workers die
inline constexpr uint32_t kMaxOpenSlabs = 64;  // shape keys

// The sequences of a model.
inline constexpr size_t kMaxPastSequences = 1024;   // ended sequences whose reason is kept
inline constexpr size_t kMaxSequenceIdBytes = 128;  // an id that is a text

// The memory plane.
inline constexpr uint32_t kMaxLanes = 32;         // per worker
inline constexpr uint32_t kMaxWorkers = 64;       // per pool
inline constexpr uint32_t kRingEntries = 4;       // per lane, in each direction
inline constexpr uint32_t kMaxLaneDepth = 2;      // one runs, one waits
inline constexpr uint32_t kMaxRuns = 128;         // per batch
inline constexpr uint32_t kMaxByteCounts = 512;   // per batch: runs times BYTES inputs
inline constexpr uint32_t kMaxSlabSegments = 64;  // per pool
inline constexpr uint64_t kTensorAlignment = 64;
inline constexpr uint64_t kSlabBytesTarget = 4ULL << 20;
// Larger slabs are not shared: each request gets its own extent.
inline constexpr uint64_t kMaxSharedSlabBytes = 64ULL << 20;
inline constexpr size_t kCacheLineBytes = 128;  // Apple's; twice x86's
inline constexpr size_t kErrorTextBytes = 512;

// Smaller answers count in no bound of unread answers: counting costs more than it saves.
inline constexpr size_t kCopiedReplyBytes = 16 << 10;

// The control socket of a worker.
inline constexpr uint32_t kMaxMessageBytes = 4U << 20;
inline constexpr uint32_t kMaxMessageFds = 64;  // a model's folder has a file or ten, and shards
inline constexpr uint32_t kFixedAttachFds = 3;  // mailbox, worker segment, bell

// Clients' shared memory.
inline constexpr size_t kMaxRegions = 1024;
inline constexpr size_t kMaxRegionsOfConnection = 64;

// The rules of access.
inline constexpr size_t kMaxAccessTokens = 256;
inline constexpr size_t kMaxAccessRules = 128;
inline constexpr size_t kMaxRuleModels = 256;
// Each model is shared in equal parts. Tenant 0 is for callers that are not told apart.
inline constexpr uint32_t kMaxTenants = 64;
// Tenant 0 and the rest together have no name.
inline constexpr uint32_t kMaxNamedTenants = kMaxTenants - 2;

// Loads, unloads and reloads that wait. Further loads and unloads are refused.
inline constexpr size_t kMaxReloadJobs = 64;

// Warnings and errors may have as many lines again.
inline constexpr uint32_t kLogLinesPerSecond = 200;
inline constexpr uint32_t kWorkerLinesPerSecond = 200;  // from one worker's output
inline constexpr size_t kWorkerLineBytes = 2048;
inline constexpr size_t kWorkerLinesKept = 20;  // for `mpsd ps --why`

static_assert((kRingEntries & (kRingEntries - 1)) == 0, "ring indices wrap by masking");
static_assert(kMaxLaneDepth < kRingEntries, "credits: a ring can never be full");
static_assert(kFixedAttachFds + 1 <= kMaxMessageFds, "further segments have messages of their own");
static_assert(kMaxByteCounts >= kMaxTensors, "one run of any model fits");
static_assert(kMaxTimeoutNs >= kDefaultTimeoutNs);
static_assert(kMaxQueueRequests >= kDefaultQueueRequests);
static_assert(kMaxBatchRows >= kMaxRuns);
static_assert(kMaxRegions >= kMaxRegionsOfConnection);
static_assert(kSlabBytesTarget <= kMaxSharedSlabBytes);

}  // namespace mpsd
