// FakeWorkerBells: remembers whose bells are heard.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "server/pool/plane/worker_bells.h"

namespace mpsd {

// Thread-compatible.
class FakeWorkerBells final : public WorkerBells {
 public:
  absl::Status Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up) override {
    if (watch_status.ok()) watched[link->worker()] = std::move(give_up);
    return watch_status;
  }
  void Unwatch(const WorkerLink& link) override { watched.erase(link.worker()); }

  absl::Status watch_status;
  std::map<uint32_t, std::function<void()>> watched;  // by the worker's index: how it is given up
};

}  // namespace mpsd
