// KneeSearch: chooses the next load to try, to find the highest load that meets the SLO.
//
//   first ─▶ doubled while it is met ─┐
//         └▶ halved until it is met ──┴▶ the middle of met and not met, until they are close
//
//   KneeSearch search({.first = 1000});
//   while (const auto rate = search.Next()) search.Add(*rate, Meets(*rate));
//   Use(search.knee());
#pragma once

#include <cstdint>
#include <optional>

namespace mpsd::bench {

// The middle is the geometric mean. Thread-compatible.
class KneeSearch {
 public:
  struct Options {
    double first = 1;         // more than 0
    double tolerance = 0.05;  // ends when met and not met differ by this part
    uint32_t loads_max = 16;  // ends after this many
  };

  explicit KneeSearch(const Options& options);

  // None when the knee is known, no load was met down to 1/1024 of the first, or all up to 1024
  // times it.
  std::optional<double> Next() const;

  // The load need not be Next()'s.
  void Add(double load, bool met);

  // The highest load that was met, below all that were not; 0: none.
  double knee() const { return met_; }

 private:
  const Options options_;
  double met_ = 0;
  std::optional<double> missed_;  // the lowest that was not met
  uint32_t tried_ = 0;
};

}  // namespace mpsd::bench
