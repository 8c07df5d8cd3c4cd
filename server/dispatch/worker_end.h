// WorkerEnd: how a worker ended, as far as its requests are concerned.
#pragma once

namespace mpsd {

enum class WorkerEnd {
  kKilled,   // from outside, or by us: says nothing about what the worker ran
  kCrashed,  // by itself: what the worker ran is suspect
};

}  // namespace mpsd
