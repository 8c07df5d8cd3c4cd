// mpsd-crash-caller: a load whose every call is checked. It ends when its standard input does, and
// prints one JSON object.

#include <poll.h>

#include <cstdio>

#include "CLI/CLI.hpp"
#include "proto/base/clock.h"
#include "tests/crash/caller.h"

namespace {

bool InputEnded() {
  pollfd input{0, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  mpsd::crash::CallerPlan plan;
  double seconds = 600;
  CLI::App app("A load whose every call is checked; ends with its standard input");
  app.add_option("--address", plan.address, "of the server")->required();
  app.add_option("--model", plan.model, "name")->required();
  app.add_option("--concurrency", plan.concurrency, "calls that are open");
  app.add_option("--rows-max", plan.rows_max, "of a call");
  app.add_option("--width", plan.payload.width, "elements of a row");
  app.add_option("--seed", plan.seed, "of everything that is drawn");
  app.add_option("--cancel-percent", plan.cancel_percent, "calls that we cancel");
  app.add_option("--poison-percent", plan.poison_percent, "calls that kill their worker");
  app.add_option("--timeout-percent", plan.timeout_percent, "calls with little time");
  app.add_option("--timeout-low-ms", plan.timeout_low_ms, "least time");
  app.add_option("--timeout-high-ms", plan.timeout_high_ms, "most of it");
  app.add_option("--patience-ms", plan.patience_ms, "the time of all other calls");
  app.add_option("--seconds", seconds, "at most");
  CLI11_PARSE(app, argc, argv);

  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  mpsd::crash::Caller caller(
      plan, grpc::CreateCustomChannel(plan.address, grpc::InsecureChannelCredentials(), arguments));
  const int64_t until_ns =
      mpsd::Clock::Real()->NowNs() + static_cast<int64_t>(seconds * mpsd::kNsPerSecond);
  const auto stop = [until_ns] { return InputEnded() || mpsd::Clock::Real()->NowNs() > until_ns; };
  const uint64_t open = caller.Run(stop);
  std::printf("%s\n", caller.history().Report(open).c_str());
  return 0;
}
