#include "server/pool/batch/row_allocator.h"

#include <algorithm>
#include <cstring>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "server/pool/batch/slab_sizing.h"

namespace mpsd {

absl::Status RowAllocator::Reserve(Request* request, RowTargets* targets) {
  Key* key = KeyOf(*request);
  if (key->own_extents) return ReserveExtent(request, targets);
  uint32_t first_row = 0;
  if (!key->has_slab || !slabs_.Reserve(key->slab, request->rows, &first_row)) {
    if (!OpenSlab(key)) return ReserveExtent(request, targets);
    MPSD_CHECK(slabs_.Reserve(key->slab, request->rows, &first_row));
  }
  Place(request, key->slab, first_row, targets);
  // A slab that one request fills has no room for another.
  if (request->rows == slabs_.slab(key->slab).row_capacity) CloseSlab(key);
  return absl::OkStatus();
}

absl::Status RowAllocator::ReserveExtent(Request* request, RowTargets* targets) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) {
    bytes += SlabTable::RegionBytes(input, request->rows);
  }
  const absl::StatusOr<uint32_t> slab =
      LeaseSlab(ExtentBytes(bytes, platform::PageBytes()), request->rows);
  if (!slab.ok()) return slab.status();
  uint32_t first_row = 0;
  MPSD_CHECK(slabs_.Reserve(*slab, request->rows, &first_row));
  Place(request, *slab, first_row, targets);
  slabs_.Close(*slab);
  return absl::OkStatus();
}

void RowAllocator::Place(Request* request, uint32_t slab, uint32_t first_row, RowTargets* targets) {
  request->Go(RequestState::kReserved);
  request->place = {slab, first_row};
  request->rows_at.clear();
  const uint32_t row_capacity = slabs_.slab(slab).row_capacity;
  uint64_t region_offset = 0;
  for (const RequestInput& input : request->inputs) {
    request->rows_at.push_back(slabs_.Address(slab, region_offset, first_row, input.row_bytes));
    region_offset += SlabTable::RegionBytes(input, row_capacity);
  }
  targets->inputs = request->rows_at;
}

bool RowAllocator::HoldEqual(const Request& one, const Request& other) const {
  if (one.rows != other.rows || one.key != other.key) return false;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    const uint64_t bytes = one.inputs[i].Bytes(one.rows);
    if (other.inputs[i].Bytes(other.rows) != bytes ||
        std::memcmp(one.rows_at[i], other.rows_at[i], bytes) != 0) {
      return false;
    }
  }
  return true;
}

RowAllocator::Key* RowAllocator::KeyOf(const Request& request) {
  const auto known = keys_.find(request.key);
  Key* key = known == keys_.end() ? nullptr : known->second.get();
  if (key == nullptr) {
    if (keys_.size() == kMaxOpenSlabs) ForgetLeastRecentlyUsed();
    key = (keys_[request.key] = std::make_unique<Key>()).get();
    Describe(request, key);
  }
  key->last_used = ++use_count_;
  return key;
}

void RowAllocator::Describe(const Request& request, Key* key) const {
  bool has_bytes = false;
  for (const RequestInput& input : request.inputs) {
    key->row_bytes.push_back(input.row_bytes);
    has_bytes = has_bytes || input.datatype == DataType::kBytes;
  }
  key->row_capacity = SlabRows(*spec_, key->row_bytes);
  key->own_extents =
      has_bytes || SlabTable::Bytes(key->row_bytes, key->row_capacity) > kMaxSharedSlabBytes;
}

void RowAllocator::ForgetLeastRecentlyUsed() {
  const auto oldest = std::min_element(
      keys_.begin(), keys_.end(),
      [](const auto& a, const auto& b) { return a.second->last_used < b.second->last_used; });
  if (oldest->second->has_slab) CloseSlab(oldest->second.get());
  keys_.erase(oldest);
}

bool RowAllocator::OpenSlab(Key* key) {
  if (key->has_slab) CloseSlab(key);
  const absl::StatusOr<uint32_t> slab =
      LeaseSlab(SlabTable::Bytes(key->row_bytes, key->row_capacity), key->row_capacity);
  if (!slab.ok()) return false;
  key->slab = *slab;
  key->has_slab = true;
  return true;
}

void RowAllocator::CloseSlab(Key* key) {
  slabs_.Close(key->slab);
  key->has_slab = false;
}

// If there is no room, closes idle slabs and tries again.
absl::StatusOr<uint32_t> RowAllocator::LeaseSlab(uint64_t bytes, uint32_t rows) {
  absl::StatusOr<uint32_t> slab = slabs_.Lease(bytes, rows);
  if (!slab.ok() && CloseIdleSlabs()) slab = slabs_.Lease(bytes, rows);
  if (!slab.ok()) missed_bytes_ = std::max(missed_bytes_, bytes);
  return slab;
}

bool RowAllocator::CloseIdleSlabs() {
  bool closed = false;
  for (auto& [shape, key] : keys_) {
    if (!key->has_slab || slabs_.slab(key->slab).live_rows > 0) continue;
    CloseSlab(key.get());
    closed = true;
  }
  return closed;
}

void RowAllocator::CheckInvariants() const {
  slabs_.CheckInvariants();
  uint32_t open_slabs = 0;
  for (const auto& [shape, key] : keys_) {
    MPSD_CHECK(!key->has_slab || slabs_.slab(key->slab).open);
    open_slabs += key->has_slab ? 1 : 0;
  }
  MPSD_CHECK(keys_.size() <= kMaxOpenSlabs && open_slabs == slabs_.open_count());
}

}  // namespace mpsd
