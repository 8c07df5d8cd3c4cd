#include "server/heap_trimmer.h"

#include "server/heap.h"

namespace mpsd {

HeapTrimmer::HeapTrimmer(const Clock* clock, Logger* logger)
    : clock_(clock), logger_(logger), policy_(ResidentHeapBytes()) {}

void HeapTrimmer::Look(int64_t inside) {
  const uint64_t before = ResidentHeapBytes();
  if (!policy_.IsDue(before, inside, clock_->NowNs())) return;
  TrimHeap();
  const uint64_t after = ResidentHeapBytes();
  const uint64_t returned = before > after ? before - after : 0;
  policy_.Trimmed(returned, clock_->NowNs());
  logger_->Log(LogLevel::kInfo, "heap_trimmed",
               {{"returned_bytes", returned}, {"resident_bytes", after}});
}

}  // namespace mpsd
