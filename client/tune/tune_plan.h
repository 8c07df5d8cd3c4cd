// TunePlan: chooses the next candidate to try, to find the one that serves the most.
//
//   as configured ─▶ lanes against threads ─▶ processes against lanes ─▶ batch caps ─▶ precisions
//
// Each step varies one thing of the best so far: a dozen candidates and not hundreds. Neighbours of
// a better batch cap are tried too. A candidate that seems a little better duels with the best,
// because measurements have errors:
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

// A plain value.
struct TuneFacts {
  uint32_t cores = 1;                     // cores that the model may use
  Placement configured{};                 // 0: "auto"
  std::string device = "cpu";             // "cuda:0"; "cuda:0,1": several
  uint32_t max_batch_size = 0;            // 0: does not batch
  uint32_t rows = 1;                      // rows of a request: no cap is lower
  std::vector<std::string> precisions{};  // precisions that the user asked to try
};

// Thread-compatible.
class TunePlan {
 public:
  // Smaller differences are noise.
  static constexpr double kWorthwhile = 0.05;
  static constexpr double kClear = 0.25;        // a clear difference needs no second try
  static constexpr uint32_t kMostBatch = 1024;  // a config takes no more

  // REQUIRES: facts.cores > 0.
  explicit TunePlan(TuneFacts facts);

  // The first candidate has shown them. Called before the first Add(), or never.
  void Learn(const std::string& device, uint32_t max_batch_size);

  // None if all have been tried.
  std::optional<Candidate> Next() const;

  // The rate of Next()'s candidate is requests a second within the SLO, or 0 if it does not meet
  // the SLO.
  void Add(const Candidate& candidate, double rate);

  // Would still be tried if none were better than the best so far.
  std::vector<Candidate> Rest() const;

  // None while no candidate had a rate.
  std::optional<Candidate> best() const { return best_; }

 private:
  // The role of next_.front(). In a duel the best so far and the challenger are tried again, in
  // this order.
  enum class Turn { kNew, kBestAgain, kChallengerAgain };
  enum class Step { kConfigured, kLanes, kProcesses, kBatches, kPrecisions, kOver };

  void AddNew(const Candidate& candidate, double rate);
  void AddChallenger(const Candidate& candidate, double rate);
  void TakeBest(const Candidate& candidate, double rate);
  // Takes candidates from the steps that are left.
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
  std::optional<Placement> lanes_;  // the best that names its lanes
  double lanes_rate_ = 0;
};

}  // namespace mpsd::tune
