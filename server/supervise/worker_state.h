// WorkerState: the phases of a configured worker and their legal order. Pure.
//
//             spawn            LoadReport            Ready, all mapped
//   kWaiting ─────────▶ kLoading ─────────▶ kWarming ─────────────────▶ kServing ───▶ kDraining
//      ▲                   │                   │                           │              │
//      │ reaped            ├───────────────────┴───────────────────────────┴──────────────┘
//      │                   ▼  killed, asked to go, hung up, or said a Failure
//      └─────────────── kEnding
//
//   state                what the process may say, apart from a Failure
//   kLoading             LoadReport, once
//   kWarming             Ready, once; SlabsMapped and SlabsUnmapped, as often as it was asked
//   kServing, kDraining  SlabsMapped and SlabsUnmapped
//   kEnding              anything: nothing is read before its end, and then only a Failure
//
// A process may be gone in any state. The state belongs to the worker: after a death it waits for
// its next incarnation, or for good (SupervisedWorker::failed()). A message out of turn kills the
// process.
#pragma once

namespace mpsd {

enum class WorkerState {
  kWaiting,   // no process                        → kLoading
  kLoading,   // the process loads the model       → kWarming, kEnding, kWaiting
  kWarming,   // it warms up its lanes             → kServing, kEnding, kWaiting
  kServing,   // the pool sends it batches         → kDraining, kEnding, kWaiting
  kDraining,  // it finishes its batches           → kEnding, kWaiting
  kEnding,    // killed, asked to go, or hung up   → kWaiting, once it is reaped
};

inline constexpr int kWorkerStates = 6;

// Whether a step is legal; SupervisedWorker CHECKs this.
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

// For `mpsd ps` and the log.
constexpr const char* WorkerStateName(WorkerState state) {
  constexpr const char* kNames[kWorkerStates] = {"waiting to start", "loading",  "warming up",
                                                 "serving",          "draining", "ending"};
  return kNames[static_cast<int>(state)];
}

}  // namespace mpsd
