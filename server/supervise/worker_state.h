// WorkerState: where a configured worker is in its life, and which way it may go. Pure.
#pragma once

namespace mpsd {

enum class WorkerState {
  kWaiting,   // no process                                  → kLoading
  kLoading,   // it loads the model                          → kWarming, kEnding, kWaiting
  kWarming,   // it has its memory and warms up its lanes    → kServing, kEnding, kWaiting
  kServing,   // the pool sends it batches                   → kDraining, kEnding, kWaiting
  kDraining,  // it finishes what it has, and gets no more   → kEnding, kWaiting
  kEnding,    // killed, asked to go or gone silent          → kWaiting, once it is reaped
};

inline constexpr int kWorkerStates = 6;

// Any process may be gone at any time: so every state with one may be followed by kWaiting.
constexpr bool MayFollow(WorkerState from, WorkerState to) {
  switch (to) {
    case WorkerState::kWaiting:
    case WorkerState::kEnding:
      return from != WorkerState::kWaiting && from != to;
    case WorkerState::kLoading:
      return from == WorkerState::kWaiting;
    case WorkerState::kWarming:
      return from == WorkerState::kLoading;
    case WorkerState::kServing:
      return from == WorkerState::kWarming;
    case WorkerState::kDraining:
      return from == WorkerState::kServing;
  }
  return false;
}

// As people read it.
constexpr const char* WorkerStateName(WorkerState state) {
  constexpr const char* kNames[kWorkerStates] = {"waiting to start", "loading",  "warming up",
                                                 "serving",          "draining", "ending"};
  return kNames[static_cast<int>(state)];
}

}  // namespace mpsd
