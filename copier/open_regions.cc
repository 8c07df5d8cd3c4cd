#include "copier/open_regions.h"

namespace mpsd {

DriverVerdict OpenRegions::Perform(const CopyOrder& order) {
  switch (order.verb) {
    case CopyVerb::kOpen:
      return Open(order);
    case CopyVerb::kClose:
      return Close(order.region);
    case CopyVerb::kRead:
    case CopyVerb::kWrite:
      return Copy(order);
    case CopyVerb::kStart:
      break;
  }
  return {CopyResult::kBadOrder, 0};
}

DriverVerdict OpenRegions::Open(const CopyOrder& order) {
  if (regions_.size() >= kMaxOpenRegions || regions_.contains(order.region)) {
    return {CopyResult::kBadOrder, 0};
  }
  Region region{order.device, 0, order.bytes};
  uint64_t bytes = 0;
  const DriverVerdict opened = driver_->Open(order.device, order.handle, &region.pointer, &bytes);
  if (!opened.ok()) return opened;
  if (bytes < order.bytes) {
    driver_->Close(region.device, region.pointer);
    return {CopyResult::kTooSmall, 0};
  }
  regions_.emplace(order.region, region);
  return {};
}

DriverVerdict OpenRegions::Close(uint64_t region) {
  const auto found = regions_.find(region);
  if (found == regions_.end()) return {CopyResult::kBadOrder, 0};
  driver_->Close(found->second.device, found->second.pointer);
  regions_.erase(found);
  return {};
}

DriverVerdict OpenRegions::Copy(const CopyOrder& order) {
  const auto found = regions_.find(order.region);
  if (found == regions_.end()) return {CopyResult::kBadOrder, 0};
  const Region& region = found->second;
  const bool fits = order.offset <= region.bytes && order.bytes <= region.bytes - order.offset &&
                    order.bytes <= inbox_.size() && order.bytes <= outbox_.size();
  if (!fits) return {CopyResult::kBadOrder, 0};
  const DevicePointer at = region.pointer + order.offset;
  if (order.verb == CopyVerb::kRead) {
    return driver_->Read(region.device, at, outbox_.first(order.bytes));
  }
  return driver_->Write(region.device, inbox_.first(order.bytes), at);
}

}  // namespace mpsd
