#include "server/bodies/grpc/unread_copies.h"

#include "proto/base/check.h"

namespace mpsd {

std::optional<UnreadCopies::Room> UnreadCopies::Take(absl::string_view peer, uint64_t bytes,
                                                     int64_t now_ns) {
  std::optional<std::string> stalest;
  {
    absl::MutexLock lock(&mu_);
    const auto client = clients_.find(peer);
    const uint64_t share = limit_bytes_ / 2;
    if (client != clients_.end() && client->second.bytes + bytes > share) return std::nullopt;
    if (bytes <= limit_bytes_ - taken_bytes_) {
      return TakeFor(clients_.try_emplace(std::string(peer)).first, bytes, now_ns);
    }
    stalest = PickStalest(now_ns);
  }
  if (stalest.has_value()) cut_(*stalest);
  return std::nullopt;
}

UnreadCopies::Room UnreadCopies::TakeFor(Clients::iterator client, uint64_t bytes, int64_t now_ns) {
  taken_bytes_ += bytes;
  client->second.bytes += bytes;
  return Room(this, client, client->second.since_ns.insert(now_ns), bytes);
}

std::optional<std::string> UnreadCopies::PickStalest(int64_t now_ns) {
  auto stalest = clients_.end();
  int64_t since_ns = now_ns - kPatienceNs + 1;
  for (auto client = clients_.begin(); client != clients_.end(); ++client) {
    const int64_t oldest_ns = *client->second.since_ns.begin();
    if (client->second.is_cut || oldest_ns >= since_ns) continue;
    stalest = client;
    since_ns = oldest_ns;
  }
  if (stalest == clients_.end()) return std::nullopt;
  stalest->second.is_cut = true;
  return stalest->first;
}

uint64_t UnreadCopies::taken_bytes() const {
  absl::MutexLock lock(&mu_);
  return taken_bytes_;
}

void UnreadCopies::GiveBack(const Room& room) {
  absl::MutexLock lock(&mu_);
  Client& client = room.client_->second;
  MPSD_CHECK(client.bytes >= room.bytes_ && taken_bytes_ >= room.bytes_);
  taken_bytes_ -= room.bytes_;
  client.bytes -= room.bytes_;
  client.since_ns.erase(room.since_);
  if (client.since_ns.empty()) clients_.erase(room.client_);
}

}  // namespace mpsd
