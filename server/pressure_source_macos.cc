// A dispatch source, in the system's C library. Not yet run on a Mac.
#include <dispatch/dispatch.h>

#include <atomic>

#include "server/memory_watch.h"

namespace mpsd {
namespace {

// Written by events. Lives until the source's last call.
struct Told {
  dispatch_source_t source = nullptr;
  std::atomic<MemoryPressure> level{MemoryPressure::kNone};
};

void TakeEvent(void* context) {
  auto* const told = static_cast<Told*>(context);
  const auto events = dispatch_source_get_data(told->source);
  MemoryPressure level = MemoryPressure::kNone;
  if ((events & DISPATCH_MEMORYPRESSURE_WARN) != 0) level = MemoryPressure::kWarn;
  if ((events & DISPATCH_MEMORYPRESSURE_CRITICAL) != 0) level = MemoryPressure::kCritical;
  told->level = level;
}

void Forget(void* context) { delete static_cast<Told*>(context); }

class DispatchPressure final : public PressureSource {
 public:
  explicit DispatchPressure(dispatch_source_t source) : told_(new Told{source}) {
    dispatch_set_context(source, told_);
    dispatch_source_set_event_handler_f(source, TakeEvent);
    dispatch_source_set_cancel_handler_f(source, Forget);
    dispatch_activate(source);
  }
  DispatchPressure(const DispatchPressure&) = delete;
  DispatchPressure& operator=(const DispatchPressure&) = delete;
  ~DispatchPressure() override {
    const dispatch_source_t source = told_->source;
    dispatch_source_cancel(source);
    dispatch_release(source);
  }

  MemoryPressure Level() const override { return told_->level; }

 private:
  Told* const told_;
};

}  // namespace

std::unique_ptr<PressureSource> PressureSource::OfHost() {
  const dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_MEMORYPRESSURE, 0,
                             DISPATCH_MEMORYPRESSURE_NORMAL | DISPATCH_MEMORYPRESSURE_WARN |
                                 DISPATCH_MEMORYPRESSURE_CRITICAL,
                             dispatch_get_global_queue(QOS_CLASS_UTILITY, 0));
  if (source == nullptr) return nullptr;
  return std::make_unique<DispatchPressure>(source);
}

}  // namespace mpsd
