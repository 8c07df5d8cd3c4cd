#include "server/listen/connection_table.h"

#include <algorithm>
#include <utility>

namespace mpsd {

std::string ConnectionPlace::local_name() const {
  absl::MutexLock lock(&mu_);
  return local_name_;
}

std::string ConnectionPlace::peer() const {
  absl::MutexLock lock(&mu_);
  return peer_;
}

// close() waits for the lock before it closes.
bool ConnectionPlace::DoIfWith(absl::string_view peer, const std::function<void()>& act) const {
  absl::MutexLock lock(&mu_);
  if (peer_ != peer) return false;
  act();
  return true;
}

bool ConnectionPlace::DoIfUsedAs(const ConnectionShares::Use* use,
                                 const std::function<void()>& act) const {
  absl::MutexLock lock(&mu_);
  if (counted_.get() != use) return false;
  act();
  return true;
}

std::optional<EpollEntry> ConnectionPlace::epoll() const {
  absl::MutexLock lock(&mu_);
  return epoll_;
}

void ConnectionPlace::SetEpoll(std::optional<EpollEntry> entry) {
  absl::MutexLock lock(&mu_);
  epoll_ = entry;
}

bool ConnectionPlace::MustPause(const Clock& clock) {
  const bool is_timed = is_timed_.load(std::memory_order_relaxed);
  if (!is_timed && !must_pause_.load(std::memory_order_relaxed)) return false;
  const int64_t now_ns = is_timed ? clock.NowNs() : 0;
  absl::MutexLock lock(&mu_);
  if (round_.is_timed()) round_.Continue(now_ns);
  const bool must_pause = round_.MustPause();
  if (must_pause) round_.FoundNothing(/*was_empty=*/false);
  PublishRound();
  return must_pause;
}

void ConnectionPlace::FoundNothing() {
  absl::MutexLock lock(&mu_);
  round_.FoundNothing(/*was_empty=*/true);
  PublishRound();
}

Flood ConnectionPlace::Took(absl::Span<const iovec> pieces, size_t bytes, bool is_last,
                            const Clock& clock) {
  absl::MutexLock lock(&mu_);
  if (!meter_.has_value()) return Flood::kNone;  // no connection any more
  const int64_t now_ns = clock.NowNs();
  const uint64_t calls = meter_->calls();
  Flood flood = Flood::kNone;
  size_t left = bytes;
  for (const iovec& piece : pieces) {
    const size_t count = std::min(left, piece.iov_len);
    if (count == 0 || flood != Flood::kNone) break;
    flood = meter_->Take({static_cast<const uint8_t*>(piece.iov_base), count}, now_ns);
    left -= count;
  }
  if (meter_->sees_frames()) round_.SeesCalls();
  round_.Took(bytes, meter_->calls() - calls, now_ns);
  if (is_last) round_.End();
  PublishRound();
  if (counted_ != nullptr) {
    counted_->Heard(now_ns);
    if (meter_->calls() > calls) counted_->NoteCall();
  }
  return flood;
}

Flood ConnectionPlace::CountReset(const ConnectionShares::Use* use, bool is_late, int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  if (counted_.get() != use || !meter_.has_value()) return Flood::kNone;
  return meter_->CountReset(is_late, now_ns);
}

void ConnectionPlace::PublishRound() {
  must_pause_.store(round_.MustPause(), std::memory_order_relaxed);
  is_timed_.store(round_.is_timed(), std::memory_order_relaxed);
  most_bytes_.store(round_.most_bytes(), std::memory_order_relaxed);
}

std::shared_ptr<ConnectionShares::Use> ConnectionPlace::Become(Use use) {
  use_.store(use, std::memory_order_release);
  local_peer_port_.store(0, std::memory_order_relaxed);
  is_cut_.store(false, std::memory_order_relaxed);
  local_name_.clear();
  peer_.clear();
  epoll_.reset();
  round_ = ReadRound();
  PublishRound();
  meter_.reset();
  return std::exchange(counted_, nullptr);
}

ConnectionTable& ConnectionTable::OfProcess() {
  static auto* const table = new ConnectionTable();
  return *table;
}

ConnectionTable::~ConnectionTable() {
  for (const std::atomic<Block*>& block : blocks_) delete block.load(std::memory_order_acquire);
}

ConnectionPlace* ConnectionTable::PlaceOf(int fd) {
  if (fd < 0 || fd >= kDescriptors) return nullptr;
  std::atomic<Block*>& block = blocks_[static_cast<size_t>(fd / kBlockPlaces)];
  Block* found = block.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto* const fresh = new Block();
    if (block.compare_exchange_strong(found, fresh, std::memory_order_acq_rel)) {
      found = fresh;
    } else {
      delete fresh;
    }
  }
  return &(*found)[static_cast<size_t>(fd % kBlockPlaces)];
}

void ConnectionTable::AddListener(int fd) {
  ConnectionPlace* const place = PlaceOf(fd);
  if (place == nullptr) return;
  Remove(fd);
  absl::MutexLock lock(&place->mu_);
  place->Become(ConnectionPlace::Use::kListener);
}

// Whatever was there before has been closed unseen.
bool ConnectionTable::AddConnection(int fd, NewConnection connection) {
  ConnectionPlace* const place = PlaceOf(fd);
  if (place == nullptr) {
    if (connection.use != nullptr) connection.use->Leave();
    return false;
  }
  Remove(fd);
  if (connection.use != nullptr && !connection.names.peer.empty()) {
    absl::MutexLock lock(&mu_);
    of_peer_[connection.names.peer] = {fd, connection.use};
  }
  absl::MutexLock lock(&place->mu_);
  place->Become(ConnectionPlace::Use::kConnection);
  place->counted_ = std::move(connection.use);
  place->local_name_ = std::move(connection.names.local);
  place->peer_ = std::move(connection.names.peer);
  place->local_peer_port_.store(connection.names.local_peer_port, std::memory_order_relaxed);
  place->meter_.emplace(connection.frames, connection.now_ns);
  place->round_ = ReadRound(/*counts_calls=*/false);
  place->PublishRound();
  return true;
}

void ConnectionTable::Remove(int fd) {
  ConnectionPlace* const place = Find(fd);
  if (place == nullptr) return;
  std::string peer;
  std::shared_ptr<ConnectionShares::Use> counted;
  {
    absl::MutexLock lock(&place->mu_);
    peer = place->peer_;
    counted = place->Become(ConnectionPlace::Use::kNone);
  }
  if (counted == nullptr) return;
  counted->Leave();
  absl::MutexLock lock(&mu_);
  const auto found = of_peer_.find(peer);
  if (found != of_peer_.end() && found->second.use == counted) of_peer_.erase(found);
}

OpenConnection ConnectionTable::Of(absl::string_view peer) const {
  absl::MutexLock lock(&mu_);
  const auto found = of_peer_.find(peer);
  return found == of_peer_.end() ? OpenConnection() : found->second;
}

ConnectionPlace* ConnectionTable::Find(int fd) const {
  if (fd < 0 || fd >= kDescriptors) return nullptr;
  Block* const block =
      blocks_[static_cast<size_t>(fd / kBlockPlaces)].load(std::memory_order_acquire);
  if (block == nullptr) return nullptr;
  ConnectionPlace& place = (*block)[static_cast<size_t>(fd % kBlockPlaces)];
  return place.use() == ConnectionPlace::Use::kNone ? nullptr : &place;
}

void ConnectionTable::ForEach(
    const std::function<void(int fd, const ConnectionPlace& place)>& visit) const {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block* const block = blocks_[i].load(std::memory_order_acquire);
    if (block == nullptr) continue;
    for (size_t j = 0; j < block->size(); ++j) {
      const ConnectionPlace& place = (*block)[j];
      if (place.use() != ConnectionPlace::Use::kConnection) continue;
      visit(static_cast<int>(i * kBlockPlaces + j), place);
    }
  }
}

}  // namespace mpsd
