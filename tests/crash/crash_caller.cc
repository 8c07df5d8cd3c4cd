// mpsd-crash-caller: a load whose every call is checked. It ends when its standard input does, and
// prints one JSON object.

#include <poll.h>

#include <cstdio>
#include <functional>
#include <string>

#include "CLI/CLI.hpp"
#include "proto/base/clock.h"
#include "tests/crash/caller.h"
#include "tests/crash/http_caller.h"

namespace {

bool InputEnded() {
  pollfd input{0, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

std::string CallOverGrpc(const mpsd::crash::CallerPlan& plan, const std::function<bool()>& stop) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return mpsd::crash::Caller(plan, grpc::CreateCustomChannel(
                                       plan.address, grpc::InsecureChannelCredentials(), arguments))
      .Run(stop);
}

}  // namespace

int main(int argc, char** argv) {
  mpsd::crash::CallerPlan plan;
  double seconds = 600;
  std::string door = "grpc";
  CLI::App app("A load whose every call is checked; ends with its standard input");
  app.add_option("--address", plan.address, "of the server")->required();
  app.add_option("--door", door, "of the server")->check(CLI::IsMember({"grpc", "http"}));
  app.add_option("--model", plan.model, "name")->required();
  app.add_option("--concurrency", plan.concurrency, "calls that are open");
  app.add_option("--rows-max", plan.rows_max, "of a call");
  app.add_option("--width", plan.payload.width, "elements of a row");
  app.add_option("--outputs", plan.payload.outputs, "of an answer");
  app.add_option("--seed", plan.seed, "of everything that is drawn");
  app.add_option("--cancel-percent", plan.cancel_percent, "calls that we cancel");
  app.add_option("--poison-percent", plan.poison_percent, "calls that kill their worker");
  app.add_option("--timeout-percent", plan.timeout_percent, "calls with little time");
  app.add_option("--timeout-low-ms", plan.timeout_low_ms, "least time");
  app.add_option("--timeout-high-ms", plan.timeout_high_ms, "most of it");
  app.add_option("--patience-ms", plan.patience_ms, "the time of all other calls");
  app.add_option("--json-percent", plan.json_percent, "calls in JSON (http)");
  app.add_option("--cut-percent", plan.cut_percent, "calls whose half is sent alone (http)");
  app.add_option("--slow-percent", plan.slow_percent, "calls that are sent slowly (http)");
  app.add_option("--seconds", seconds, "at most");
  CLI11_PARSE(app, argc, argv);

  const int64_t until_ns =
      mpsd::Clock::Real()->NowNs() + static_cast<int64_t>(seconds * mpsd::kNsPerSecond);
  const auto stop = [until_ns] { return InputEnded() || mpsd::Clock::Real()->NowNs() > until_ns; };
  const std::string report =
      door == "http" ? mpsd::crash::HttpCaller(plan).Run(stop) : CallOverGrpc(plan, stop);
  std::printf("%s\n", report.c_str());
  return 0;
}
