// TunePlan: chooses the next candidate to try, to find the one that serves the most.
//
//   as configured ─▶ lanes against threads ─▶ processes against lanes ─▶ batch caps ─▶ precisions
//
// Each step varies one thing of the best candidate so far, so a host of many cores has a dozen
// candidates and not hundreds. If a batch cap is better, its neighbours are tried too. One
// measurement's error may exceed the difference of two candidates. So a candidate that seems a
// little better is tried again, right after the best so far, and these two tries decide. The plan
// measures nothing itself:
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

// The facts that the candidates depend on. A plain value.
struct TuneFacts {
  uint32_t cores = 1;                     // cores that the model may use
  Placement configured{};                 // the config's placement; 0: "auto"
  std::string device = "cpu";             // like "cuda:0"; "cuda:0,1": several
  uint32_t max_batch_size = 0;            // 0: the model does not batch
  uint32_t rows = 1;                      // rows of a request: no cap is lower
  std::vector<std::string> precisions{};  // precisions that the user asked to try
};

// Thread-compatible.
class TunePlan {
 public:
  // A candidate must be better than the best so far by this part; a smaller difference is noise.
  static constexpr double kWorthwhile = 0.05;
  static constexpr double kClear = 0.25;        // a clear difference needs no second try
  static constexpr uint32_t kMostBatch = 1024;  // a config takes no more

  // REQUIRES: facts.cores > 0.
  explicit TunePlan(TuneFacts facts);

  // Adds facts that the first candidate has shown. Called before the first Add(), or never.
  void Learn(const std::string& device, uint32_t max_batch_size);

  // The candidate to try now; none when all have been tried.
  std::optional<Candidate> Next() const;

  // Adds the rate of Next()'s candidate: requests a second within the SLO; 0: it does not meet the
  // SLO.
  void Add(const Candidate& candidate, double rate);

  // The candidates that would still be tried if none were better than the best so far.
  std::vector<Candidate> Rest() const;

  // The best so far; none while no candidate had a rate.
  std::optional<Candidate> best() const { return best_; }

 private:
  // The role of next_.front(): a new candidate, or one of a duel. In a duel the best so far and the
  // challenger are tried again, in this order.
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
  std::deque<Candidate> next_;  // this step's candidates, a duel's first
  Turn turn_ = Turn::kNew;
  std::vector<Candidate> offered_;
  std::optional<Candidate> best_;
  double best_rate_ = 0;
  std::optional<Placement> lanes_;  // the best placement that names its lanes
  double lanes_rate_ = 0;
};

}  // namespace mpsd::tune
