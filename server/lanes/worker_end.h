// WorkerEnd: how a worker ended, for the fate of its requests.
#pragma once

namespace mpsd {

enum class WorkerEnd {
  kKilled,   // from outside, or by the front end: its requests are not to blame
  kCrashed,  // by itself: its requests are suspects
};

}  // namespace mpsd
