#include "server/http/calls/open_calls.h"

#include "absl/hash/hash.h"
#include "proto/base/check.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

constexpr absl::string_view kNoModel;

}  // namespace

OpenCalls::OpenCalls(uint32_t limit, std::atomic<uint64_t>* refused)
    : limit_(limit), refused_(refused), none_(absl::HashOf(kNoModel)) {}

OpenCalls::Keys OpenCalls::KeysOf(absl::string_view model, uint64_t client) {
  return {absl::HashOf(model), absl::HashOf(model, client)};
}

absl::string_view HostOfPeer(absl::string_view peer) { return peer.substr(0, peer.rfind(':')); }

uint32_t OpenCalls::CountIn(const Accounts& accounts, uint64_t key) {
  const auto found = accounts.find(key);
  return found == accounts.end() ? 0 : found->second;
}

void OpenCalls::TakeOut(uint64_t key, Accounts* accounts) {
  const auto found = accounts->find(key);
  MPSD_CHECK(found != accounts->end() && found->second > 0);
  if (--found->second == 0) accounts->erase(found);
}

// The asking call is in the count already, but in neither account.
bool OpenCalls::HasRoom(const Keys& keys) const {
  return CountIn(of_model_, keys.model) + CountIn(of_pair_, keys.pair) <= limit_ - count();
}

absl::Status OpenCalls::Refuse(absl::string_view text) const {
  refused_->fetch_add(1, std::memory_order_relaxed);
  return Busy(text);
}

absl::Status OpenCalls::Enter(absl::string_view peer, Place* place) {
  return EnterOf(absl::HashOf(HostOfPeer(peer)), place);
}

absl::Status OpenCalls::EnterBeside(const Place& stream, Place* place) {
  MPSD_CHECK(stream.calls_ != nullptr);
  return EnterOf(stream.client_, place);
}

bool OpenCalls::CountOne() {
  uint32_t count = this->count();
  while (count < limit_ && !count_.compare_exchange_weak(count, count + 1)) {
  }
  return count < limit_;
}

// While no call is without a model, the limit alone counts.
absl::Status OpenCalls::EnterOf(uint64_t client, Place* place) {
  MPSD_CHECK(place->calls_ == nullptr);
  if (!CountOne()) return Refuse("too many calls are open");
  if (of_none_ > 0) {
    absl::MutexLock lock(&mu_);
    if (!HasRoom(KeysOf(kNoModel, client))) {
      --count_;
      return Refuse("too many calls are open");
    }
  }
  place->calls_ = this;
  place->client_ = client;
  return absl::OkStatus();
}

void OpenCalls::Move(const Keys& keys, Place* place) {
  Uncount(place);
  place->is_counted_ = true;
  place->keys_ = keys;
  if (keys.model == none_) ++of_none_;
  ++of_model_[keys.model];
  ++of_pair_[keys.pair];
}

void OpenCalls::Uncount(Place* place) {
  if (!place->is_counted_) return;
  place->is_counted_ = false;
  if (place->keys_.model == none_) --of_none_;
  TakeOut(place->keys_.model, &of_model_);
  TakeOut(place->keys_.pair, &of_pair_);
}

OpenCalls::Place& OpenCalls::Place::operator=(Place&& other) noexcept {
  Leave();
  calls_ = std::exchange(other.calls_, nullptr);
  client_ = other.client_;
  is_counted_ = std::exchange(other.is_counted_, false);
  keys_ = other.keys_;
  return *this;
}

absl::Status OpenCalls::Place::BelongTo(absl::string_view model) {
  MPSD_CHECK(calls_ != nullptr);
  const Keys keys = KeysOf(model, client_);
  absl::MutexLock lock(&calls_->mu_);
  if (!calls_->HasRoom(keys)) return calls_->Refuse("too many calls to this model are open");
  calls_->Move(keys, this);
  return absl::OkStatus();
}

void OpenCalls::Place::BelongToNone() {
  if (calls_ == nullptr) return;
  const Keys keys = KeysOf(kNoModel, client_);
  absl::MutexLock lock(&calls_->mu_);
  calls_->Move(keys, this);
}

void OpenCalls::Place::Leave() {
  if (calls_ == nullptr) return;
  if (is_counted_) {
    absl::MutexLock lock(&calls_->mu_);
    calls_->Uncount(this);
  }
  --calls_->count_;
  calls_ = nullptr;
}

}  // namespace mpsd
