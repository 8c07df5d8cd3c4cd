#include "client/tune/tune_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "proto/base/check.h"

namespace mpsd::tune {
namespace {

constexpr uint32_t kMostLanes = 32;  // a config takes no more, here and in the next two
constexpr uint32_t kMostProcesses = 64;
constexpr uint32_t kMostThreads = 256;

// A candidate has equally many processes on each.
uint32_t DeviceCount(const std::string& devices) {
  return 1 + static_cast<uint32_t>(std::count(devices.begin(), devices.end(), ','));
}

}  // namespace

TunePlan::TunePlan(TuneFacts facts) : facts_(std::move(facts)) {
  MPSD_CHECK(facts_.cores > 0);
  Offer({});
}

void TunePlan::Learn(const std::string& device, uint32_t max_batch_size) {
  facts_.device = device;
  facts_.max_batch_size = max_batch_size;
}

std::optional<Candidate> TunePlan::Next() const {
  if (next_.empty()) return std::nullopt;
  return next_.front();
}

void TunePlan::Add(const Candidate& candidate, double rate) {
  MPSD_CHECK(!next_.empty() && next_.front() == candidate);
  next_.pop_front();
  switch (turn_) {
    case Turn::kNew:
      AddNew(candidate, rate);
      break;
    case Turn::kBestAgain:
      best_rate_ = rate;
      turn_ = Turn::kChallengerAgain;
      break;
    case Turn::kChallengerAgain:
      AddChallenger(candidate, rate);
      turn_ = Turn::kNew;
      break;
  }
  while (next_.empty() && step_ != Step::kOver) Advance();
}

void TunePlan::AddNew(const Candidate& candidate, double rate) {
  if (step_ == Step::kLanes && rate > lanes_rate_) {
    lanes_ = candidate.placement;
    lanes_rate_ = rate;
  }
  if (rate > best_rate_ * (1 + kClear)) {
    TakeBest(candidate, rate);
  } else if (rate > best_rate_ * (1 + kWorthwhile)) {
    next_.push_front(candidate);
    next_.push_front(*best_);
    turn_ = Turn::kBestAgain;
  }
}

void TunePlan::AddChallenger(const Candidate& candidate, double rate) {
  if (step_ == Step::kLanes) lanes_rate_ = rate;  // the challenger was better
  if (rate > best_rate_ * (1 + kWorthwhile)) TakeBest(candidate, rate);
}

void TunePlan::TakeBest(const Candidate& candidate, double rate) {
  best_ = candidate;
  best_rate_ = rate;
  if (step_ == Step::kBatches) OfferBatchesAround(candidate.max_batch_size);
}

std::vector<Candidate> TunePlan::Rest() const {
  TunePlan plan = *this;
  while (plan.turn_ != Turn::kNew) plan.Add(*plan.Next(), 0);
  std::vector<Candidate> rest;
  while (const auto candidate = plan.Next()) {
    rest.push_back(*candidate);
    plan.Add(*candidate, 0);
  }
  return rest;
}

void TunePlan::Advance() {
  step_ = static_cast<Step>(static_cast<int>(step_) + 1);
  if (step_ == Step::kLanes) OfferLanes();
  if (step_ == Step::kProcesses) OfferProcesses();
  if (step_ == Step::kBatches) OfferBatches();
  if (step_ == Step::kPrecisions) OfferPrecisions();
}

void TunePlan::Offer(const Candidate& candidate) {
  const bool is_configured =
      candidate == Candidate{.placement = facts_.configured} && !offered_.empty();
  const bool is_known = std::find(offered_.begin(), offered_.end(), candidate) != offered_.end();
  if (is_configured || is_known) return;
  offered_.push_back(candidate);
  next_.push_back(candidate);
}

// On the cpu lanes and threads share the cores: many lanes give the most answers, few the shortest
// waits. On a gpu lanes share the device.
void TunePlan::OfferLanes() {
  if (facts_.device != "cpu") {
    const bool mps = absl::StartsWith(facts_.device, "mps");
    for (uint32_t lanes = mps ? 2 : 8; lanes > 0; lanes /= 2) {
      Offer({.placement = {DeviceCount(facts_.device), lanes, 1}});
    }
    return;
  }
  for (uint32_t lanes = std::min(facts_.cores, kMostLanes); lanes > 0; lanes /= 2) {
    const uint32_t threads = std::min(facts_.cores / lanes, kMostThreads);
    Offer({.placement = {1, lanes, threads}});
  }
}

// Processes cost memory, and help a model whose lanes wait for each other. They cannot meet an SLO
// that no number of lanes meets.
void TunePlan::OfferProcesses() {
  if (!lanes_) return;
  const uint32_t lanes = lanes_->lanes;
  if (facts_.device != "cpu") {
    const uint32_t processes = std::min(2 * DeviceCount(facts_.device), kMostProcesses);
    Offer({.placement = {processes, lanes, 1}});
    Offer({.placement = {processes, std::max(lanes / 2, 1U), 1}});
    if (absl::StartsWith(facts_.device, "mps")) Offer({.placement = {3, 1, 1}});
    return;
  }
  if (lanes > 3) Offer({.placement = {2, lanes / 2, lanes_->threads}});
  if (lanes > 1) Offer({.placement = {std::min(lanes, kMostProcesses), 1, lanes_->threads}});
}

void TunePlan::OfferBatches() { OfferBatchesAround(facts_.max_batch_size); }

// A lower cap makes shorter waits, a higher one a busier device.
void TunePlan::OfferBatchesAround(uint32_t rows) {
  if (!best_) return;
  Candidate candidate = *best_;
  const bool up_only = rows > facts_.max_batch_size;  // lower caps have been tried
  for (const uint32_t cap : {rows * 2, up_only ? 0 : rows / 4}) {
    if (cap > kMostBatch || cap < std::max(facts_.rows, 1U)) continue;
    candidate.max_batch_size = cap;
    Offer(candidate);
  }
}

void TunePlan::OfferPrecisions() {
  if (!best_) return;
  for (const std::string& precision : facts_.precisions) {
    Candidate candidate = *best_;
    candidate.precision = precision;
    Offer(candidate);
  }
}

}  // namespace mpsd::tune
