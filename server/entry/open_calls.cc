#include "server/entry/open_calls.h"

#include "absl/hash/hash.h"
#include "proto/base/check.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

constexpr absl::string_view kNoModel;

uint64_t KeyOf(absl::string_view model) { return absl::HashOf(model); }
uint64_t PairOf(absl::string_view model, uint64_t client) { return absl::HashOf(model, client); }

}  // namespace

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
bool OpenCalls::HasRoom(uint64_t model, uint64_t pair) const {
  return CountIn(of_model_, model) + CountIn(of_pair_, pair) <= limit_ - count_;
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

absl::Status OpenCalls::EnterOf(uint64_t client, Place* place) {
  MPSD_CHECK(place->calls_ == nullptr);
  absl::MutexLock lock(&mu_);
  if (count_ == limit_) return Refuse("too many calls are open");
  ++count_;
  if (!HasRoom(KeyOf(kNoModel), PairOf(kNoModel, client))) {
    --count_;
    return Refuse("too many calls are open");
  }
  place->calls_ = this;
  place->client_ = client;
  return absl::OkStatus();
}

void OpenCalls::Move(absl::string_view model, Place* place) {
  Uncount(place);
  place->is_counted_ = true;
  place->model_ = KeyOf(model);
  place->pair_ = PairOf(model, place->client_);
  ++of_model_[place->model_];
  ++of_pair_[place->pair_];
}

void OpenCalls::Uncount(Place* place) {
  if (!place->is_counted_) return;
  place->is_counted_ = false;
  TakeOut(place->model_, &of_model_);
  TakeOut(place->pair_, &of_pair_);
}

OpenCalls::Place& OpenCalls::Place::operator=(Place&& other) noexcept {
  Leave();
  calls_ = std::exchange(other.calls_, nullptr);
  client_ = other.client_;
  is_counted_ = std::exchange(other.is_counted_, false);
  model_ = other.model_;
  pair_ = other.pair_;
  return *this;
}

absl::Status OpenCalls::Place::BelongTo(absl::string_view model) {
  MPSD_CHECK(calls_ != nullptr);
  absl::MutexLock lock(&calls_->mu_);
  if (!calls_->HasRoom(KeyOf(model), PairOf(model, client_))) {
    return calls_->Refuse("too many calls to this model are open");
  }
  calls_->Move(model, this);
  return absl::OkStatus();
}

void OpenCalls::Place::BelongToNone() {
  if (calls_ == nullptr) return;
  absl::MutexLock lock(&calls_->mu_);
  calls_->Move(kNoModel, this);
}

void OpenCalls::Place::Leave() {
  if (calls_ == nullptr) return;
  {
    absl::MutexLock lock(&calls_->mu_);
    calls_->Uncount(this);
    --calls_->count_;
  }
  calls_ = nullptr;
}

}  // namespace mpsd
