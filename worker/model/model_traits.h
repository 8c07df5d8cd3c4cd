// ModelTraits: facts of a loaded model besides its spec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/limits.h"
#include "proto/link/census.h"
#include "proto/link/input_memory.h"
#include "proto/link/precision.h"

namespace mpsd {

// For `mpsd inspect` to show. Plain data.
struct ModelFact {
  std::string name;
  std::string text;
};

// Filled while the model is made, then constant. Plain data.
struct ModelTraits {
  std::string device = "cpu";  // the device that the model runs on: "cpu", "cuda:0"
  Census census{};             // operators, counted by kind, and size

  // Facts beyond the spec, for people: "family", "bert"; and the operators that the device lacks.
  std::vector<ModelFact> facts{};

  // The names of a row's classes, by number; empty if the files name none. At most kMaxLabels
  // names, of kMaxLabelsBytes together.
  std::vector<std::string> labels{};

  // Never kAuto. The note tells operators how "auto" came to this precision; it is empty if the
  // precision was prescribed.
  Precision precision = Precision::kAsSaved;
  std::string precision_note{};

  // The smallest and the largest whole number of each input in trial runs. Inputs beyond the end
  // accept 0 and 1.
  std::vector<std::pair<int64_t, int64_t>> trial_ranges{};

  // How many lanes the model bears on this device, at least 1, and why not kMaxLanes. The gpu
  // driver's guard may allow fewer.
  uint32_t lanes_max = kMaxLanes;
  std::string lanes_reason{};

  InputMemory input_memory = InputMemory::kNone;

  // Whether the worker compares the lanes' outputs first.
  bool wants_self_check = false;

  // Whether only one lane serves unless that comparison has shown that lanes agree.
  bool needs_self_check = false;

  // Whether batches should have only a few row counts, filled up with copies of a row, because each
  // new count costs a compilation. Only if the model batches and has no strings.
  bool wants_row_buckets = false;

  // Whether tokens that "attention_mask" leaves out cost nothing. Only if the model has that input.
  bool leaves_padding_out = false;

  // Whether the library keeps host memory for later and can give it back. Only with a ModelMemory.
  bool gives_memory_back = false;

  std::pair<int64_t, int64_t> trial_range(size_t input) const {
    return input < trial_ranges.size() ? trial_ranges[input] : std::pair<int64_t, int64_t>(0, 1);
  }
};

}  // namespace mpsd
