// HubPuller: fetches the config's models that are at a hub.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/pull_sample.h"

namespace mpsd {

// Told on the puller's thread, which nobody waits for.
struct PullEvents {
  std::function<void()> moves;   // a few times a second: Text() is another one
  std::function<void()> pulled;  // a model is here
};

// Runs `mpsd pull --json NAME` for one model after another, so that libcurl and the hub's answers
// stay outside the daemon. Tries again after a minute, or at once when a reload still wants the
// model. Owned by the daemon. Thread-safe, except that main calls Start() and Stop().
class HubPuller {
 public:
  static constexpr int64_t kRetryNs = 60'000'000'000;

  HubPuller(ServerMetrics* metrics, Logger* logger) : metrics_(metrics), logger_(logger) {}
  ~HubPuller() { Stop(); }

  // `program` is mpsd's. Called at most once.
  void Start(std::string program, PullEvents events);

  // Ends a running pull, whose beginning stays in the cache. Idempotent.
  void Stop();

  // Fetches these models, and no others from now on: a pull of another one ends. A model whose
  // folder was taken is fetched again if it is wanted again: the folder is gone.
  void Want(const std::vector<std::string>& sources);

  // Where a fetched model lies; empty until then.
  std::string TakeFolder(const std::string& source);

  // Why a wanted model is not here, for operators.
  std::string Text(const std::string& source) const;

  std::vector<PullSample> Samples() const;

 private:
  struct Pull {
    PullSample sample;
    std::string folder;  // empty until the model is here
    std::string fault;
    int64_t next_try_ns = 0;
    bool is_wanted = true;
    bool is_taken = false;
    bool is_asked_for = false;  // since its last try began

    // Never if nobody wants the model, or it is here.
    int64_t TurnNs() const { return is_wanted && folder.empty() ? next_try_ns : INT64_MAX; }
  };

  void Main();
  std::string TakeNext();
  void PullOnce(const std::string& source);
  // Returns a line that is no event.
  std::string TakeLine(const std::string& source, std::string_view line);

  // Whether the running pull is still wanted.
  bool MayGoOn(const std::string& source) const;
  bool IsHere(const std::string& source) const;
  void NoteFault(const std::string& source, const std::string& fault);

  ServerMetrics* const metrics_;
  Logger* const logger_;
  std::string program_;
  PullEvents events_;
  std::thread thread_;

  mutable absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::map<std::string, Pull> pulls_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
