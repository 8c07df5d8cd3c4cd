// TunePlan: which candidate to try next, to find the one that serves the most.
//
//   as configured ─▶ lanes against threads ─▶ processes against lanes ─▶ batch caps ─▶ precisions
//
// Each step varies one thing of the best candidate so far, so a host of many cores has a dozen
// candidates and not hundreds. A cap that is better has its neighbours tried too. One measurement
// of a host with other work may be off by more than two candidates differ. So one that seems a
// little better than the best so far is tried again, right after the best is, and those two tries
// decide. The plan decides and measures nothing:
//
//   TunePlan plan({.cores = 8});
//   while (const auto candidate = plan.Next()) plan.Add(*candidate, RateOf(*candidate));
//   Use(plan.best());
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "client/tune/candidate.h"

namespace mpsd::tune {

// What the candidates depend on. A value.
struct TuneFacts {
  uint32_t cores = 1;                     // that the model may use
  Placement configured{};                 // by the config; 0: "auto"
  std::string device = "cpu";             // as "cuda:0"; "cuda:0,1": several
  uint32_t max_batch_size = 0;            // 0: the model does not batch
  uint32_t rows = 1;                      // of a request: no cap is lower
  std::vector<std::string> precisions{};  // to try; the user has asked for them
};

// Thread-compatible.
class TunePlan {
 public:
  // Another candidate than the best so far must be better by this part of it: what differs by less
  // is noise, and no reason to change a config.
  static constexpr double kWorthwhile = 0.05;
  static constexpr double kClear = 0.25;        // no noise: needs no second try
  static constexpr uint32_t kMostBatch = 1024;  // a config takes no more

  // REQUIRES: facts.cores > 0.
  explicit TunePlan(TuneFacts facts);

  // What the first candidate has shown of the model. Called before the first Add(), or never.
  void Learn(const std::string& device, uint32_t max_batch_size);

  // The candidate to try now; none when all have been tried.
  std::optional<Candidate> Next() const;

  // How many requests a second the candidate of Next() serves within the SLO; 0: it does not.
  void Add(const Candidate& candidate, double rate);

  // What would be tried from now on if none of it were better, without what has been tried.
  std::vector<Candidate> Rest() const;

  // The best so far; none while no candidate had a rate.
  std::optional<Candidate> best() const { return best_; }

 private:
  // What next_.front() is: a new one, or one of a duel, where the best so far and one that
  // seems better are tried again, in this order.
  enum class Turn { kNew, kBestAgain, kChallengerAgain };
  enum class Step { kConfigured, kLanes, kProcesses, kBatches, kPrecisions, kOver };

  void AddNew(const Candidate& candidate, double rate);
  void AddChallenger(const Candidate& candidate, double rate);
  void TakeBest(const Candidate& candidate, double rate);
  // Fills `next_` from the steps that are left.
  void Advance();
  void Offer(const Candidate& candidate);
  void OfferLanes();
  void OfferProcesses();
  void OfferBatches();
  void OfferBatchesAround(uint32_t rows);
  void OfferPrecisions();

  TuneFacts facts_;
  Step step_ = Step::kConfigured;
  std::deque<Candidate> next_;  // of this step, those of a duel first
  Turn turn_ = Turn::kNew;
  std::vector<Candidate> offered_;
  std::optional<Candidate> best_;
  double best_rate_ = 0;
  std::optional<Placement> lanes_;  // the best that names its lanes
  double lanes_rate_ = 0;
};

}  // namespace mpsd::tune
