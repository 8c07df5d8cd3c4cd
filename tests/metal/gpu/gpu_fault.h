// GpuFault: an error of the gpu that a test asks for.
#pragma once

#include <atomic>
#include <string>
#include <utility>

namespace mpsd::standin {

// A process whose gpu has failed once is ignored from then on, as by Apple's driver. Thread-safe.
class GpuFault {
 public:
  // The process's own. Where MPSD_STANDIN_FAULT is set, its value is the text of the error, and the
  // signal SIGUSR1 begins the fault.
  static GpuFault& OfProcess();

  explicit GpuFault(std::string text) : text_(std::move(text)) {}

  // Every command buffer that the gpu has not begun yet fails. May be called in a signal's handler.
  void Begin() { has_begun_.store(true); }
  void End() { has_begun_.store(false); }

  // The text of the error; empty where the gpu works.
  std::string Text() const { return has_begun_.load() ? text_ : ""; }

 private:
  const std::string text_;
  std::atomic<bool> has_begun_{false};
};

}  // namespace mpsd::standin
