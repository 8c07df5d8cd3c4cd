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

std::optional<EpollEntry> ConnectionPlace::epoll() const {
  absl::MutexLock lock(&mu_);
  return epoll_;
}

void ConnectionPlace::SetEpoll(std::optional<EpollEntry> entry) {
  absl::MutexLock lock(&mu_);
  epoll_ = entry;
}

bool ConnectionPlace::MustPause() {
  if (!must_pause_.load(std::memory_order_relaxed)) return false;
  absl::MutexLock lock(&mu_);
  round_.FoundNothing();
  PublishRound();
  return true;
}

void ConnectionPlace::FoundNothing() {
  absl::MutexLock lock(&mu_);
  round_.FoundNothing();
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
  round_.Took(bytes, meter_->calls() - calls);
  if (is_last) round_.End();
  PublishRound();
  return flood;
}

void ConnectionPlace::PublishRound() {
  must_pause_.store(round_.MustPause(), std::memory_order_relaxed);
  most_bytes_.store(round_.most_bytes(), std::memory_order_relaxed);
}

bool ConnectionPlace::Become(Use use) {
  use_.store(use, std::memory_order_release);
  local_peer_port_.store(0, std::memory_order_relaxed);
  is_cut_.store(false, std::memory_order_relaxed);
  local_name_.clear();
  peer_.clear();
  epoll_.reset();
  round_ = ReadRound();
  PublishRound();
  meter_.reset();
  return std::exchange(counts_, false);
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

// What was there before has been closed unseen.
bool ConnectionTable::AddConnection(int fd, NewConnection connection) {
  ConnectionPlace* const place = PlaceOf(fd);
  if (place == nullptr) return false;
  Remove(fd);
  if (connection.most.has_value() &&
      count_.fetch_add(1, std::memory_order_relaxed) >= *connection.most) {
    count_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  absl::MutexLock lock(&place->mu_);
  place->Become(ConnectionPlace::Use::kConnection);
  place->counts_ = connection.most.has_value();
  place->local_name_ = std::move(connection.names.local);
  place->peer_ = std::move(connection.names.peer);
  place->local_peer_port_.store(connection.names.local_peer_port, std::memory_order_relaxed);
  place->meter_.emplace(connection.frames, connection.now_ns);
  return true;
}

void ConnectionTable::Remove(int fd) {
  ConnectionPlace* const place = Find(fd);
  if (place == nullptr) return;
  absl::MutexLock lock(&place->mu_);
  if (place->Become(ConnectionPlace::Use::kNone)) count_.fetch_sub(1, std::memory_order_relaxed);
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
