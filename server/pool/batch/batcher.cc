#include "server/pool/batch/batcher.h"

#include <algorithm>

#include "proto/base/check.h"

namespace mpsd {

absl::Status Batcher::Reserve(Request* request, RowTargets* targets) {
  return rows_.Reserve(request, targets);
}

void Batcher::Enqueue(Request* request) {
  request->Go(RequestState::kQueued);
  lines_.Add(request);
}

void Batcher::PutBack(Request* request) {
  lines_.Refund(*request);
  Enqueue(request);
}

void Batcher::Remove(Request* request) {
  lines_.Remove(request);
  EndRows(request->place, request->rows);
}

void Batcher::TakeEqual(const Request& request, std::vector<Request*>* equal) {
  const size_t before = equal->size();
  const auto is_equal = [&](const Request& other) { return rows_.HoldEqual(request, other); };
  lines_.TakeEqual(request, is_equal, equal);
  EndRowsFrom(before, *equal);
}

uint32_t Batcher::TakeExpiredOf(uint32_t line, uint32_t rank, int64_t until_ns,
                                std::vector<Request*>* expired) {
  const size_t before = expired->size();
  const uint32_t delayed = lines_.TakeExpiredOf(line, rank, until_ns, expired);
  EndRowsFrom(before, *expired);
  return delayed;
}

uint32_t Batcher::TakeExpired(int64_t until_ns, std::vector<Request*>* expired) {
  const size_t before = expired->size();
  const uint32_t delayed = lines_.TakeExpired(until_ns, expired);
  EndRowsFrom(before, *expired);
  return delayed;
}

void Batcher::EndRowsFrom(size_t first, const std::vector<Request*>& requests) {
  for (size_t i = first; i < requests.size(); ++i) EndRows(requests[i]->place, requests[i]->rows);
}

void Batcher::Form(uint32_t line, uint32_t row_limit, FormedBatch* batch) {
  batch->Clear();
  const int64_t row_ns = lines_.RowNs(line, row_limit);
  if (line == SchedulerDecision::kSuspects) {
    Append(line, row_ns, batch);
  } else {
    const uint32_t shared_limit = std::min(row_limit, lines_.shared_rows(line));
    while (const Request* request = lines_.first(line)) {
      if (!batch->HasRoom(*request, batch->entries.empty() ? row_limit : shared_limit)) break;
      Append(line, row_ns, batch);
    }
  }
  lines_.ShowShares();
  MPSD_CHECK(batch->row_count > 0);
}

void Batcher::Append(uint32_t line, int64_t row_ns, FormedBatch* batch) {
  Request* request = lines_.first(line);
  lines_.Pop(line, row_ns);
  batch->Append(request, slab_table().slab(request->place.slab));
}

void Batcher::CheckInvariants() const {
  rows_.CheckInvariants();
  lines_.CheckInvariants();
  ForEachQueued([this](const Request& request) {
    const Slab& slab = slab_table().slab(request.place.slab);
    MPSD_CHECK(request.place.first_row + request.rows <= slab.next_row);
    MPSD_CHECK(request.rows <= slab.live_rows);
  });
}

}  // namespace mpsd
