#include "server/accept/inflation.h"

#include <grpc/support/time.h>

#include "server/exchange/request_ending.h"

namespace mpsd {

void Inflation::Run() {
  status_ = is_dropped_.load(std::memory_order_relaxed) ? CallCancelled()
                                                        : inflater_->Inflate(message_, client_);
  alarm_->Set(queue_, gpr_now(GPR_CLOCK_MONOTONIC), inflated_);
}

}  // namespace mpsd
