#include "client/traffic/load_run.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "client/credentials.h"
#include "client/traffic/call_pump.h"
#include "client/traffic/pump.h"
#include "client/traffic/stream_pump.h"
#include "proto/base/clock.h"

namespace mpsd::traffic {
namespace {

using Pumps = std::vector<std::unique_ptr<Pump>>;

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const LoadPlan& plan) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection for each channel
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  auto channel = grpc::CreateCustomChannel(plan.target, client::ChannelCredentials(plan.connection),
                                           arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() +
                                 std::chrono::microseconds(plan.connect_ns / 1000))) {
    return absl::UnavailableError(absl::StrCat("cannot connect to ", plan.target));
  }
  return channel;
}

absl::StatusOr<std::unique_ptr<Pump>> MakeCallPump(const LoadPlan& plan,
                                                   const std::vector<PreparedRequest>& requests,
                                                   std::atomic<int64_t>* tickets, uint32_t thread) {
  const uint32_t calls = plan.arrivals.IsOpen() ? plan.outstanding_max : plan.concurrency;
  auto pump = std::make_unique<CallPump>(plan, requests, thread, Share(calls, thread, plan.threads),
                                         tickets);
  const uint32_t channels = std::max(plan.channels, plan.threads);
  for (uint32_t i = 0; i < Share(channels, thread, plan.threads); ++i) {
    absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = Connect(plan);
    if (!channel.ok()) return channel.status();
    pump->AddChannel(*channel);
  }
  return pump;
}

// Each stream has its own connection.
absl::StatusOr<std::unique_ptr<Pump>> MakeStreamPump(const LoadPlan& plan,
                                                     const std::vector<PreparedRequest>& requests,
                                                     uint32_t thread) {
  auto pump = std::make_unique<StreamPump>(plan, requests, plan.seed + thread);
  for (uint32_t i = thread; i < plan.streams; i += plan.threads) {
    absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = Connect(plan);
    if (!channel.ok()) return channel.status();
    pump->AddStream(*channel, Share(plan.concurrency, i, plan.streams));
  }
  return pump;
}

absl::StatusOr<Pumps> MakePumps(const LoadPlan& plan, const PumpMaker& make_pump) {
  Pumps pumps;
  for (uint32_t i = 0; i < plan.threads; ++i) {
    absl::StatusOr<std::unique_ptr<Pump>> pump = make_pump(i);
    if (!pump.ok()) return pump.status();
    pumps.push_back(*std::move(pump));
  }
  return pumps;
}

struct Sample {
  int64_t at_ns = 0;
  std::vector<ProcessUsage> usages;  // this process first
};

absl::StatusOr<Sample> TakeSample(const LoadPlan& plan) {
  Sample sample;
  std::vector<pid_t> pids = {getpid()};
  for (const WatchedProcess& process : plan.watched) pids.push_back(process.pid);
  for (const pid_t pid : pids) {
    absl::StatusOr<ProcessUsage> usage = ReadProcessUsage(pid);
    if (!usage.ok() && pid != pids.front()) return usage.status();
    sample.usages.push_back(usage.ok() ? *usage : ProcessUsage{});
  }
  sample.at_ns = Clock::Real()->NowNs();
  return sample;
}

ProcessUsage Difference(const ProcessUsage& before, const ProcessUsage& after) {
  const auto grown = [](uint64_t from, uint64_t to) { return to > from ? to - from : 0; };
  return {.user_us = after.user_us - before.user_us,
          .system_us = after.system_us - before.system_us,
          .voluntary_switches = grown(before.voluntary_switches, after.voluntary_switches),
          .involuntary_switches = grown(before.involuntary_switches, after.involuntary_switches)};
}

LoadResult MakeResult(const LoadPlan& plan, const Pumps& pumps, const Sample& begin,
                      const Sample& end) {
  LoadResult result;
  for (const auto& pump : pumps) result.counts.Merge(pump->counts());
  result.window_seconds = static_cast<double>(end.at_ns - begin.at_ns) * 1e-9;
  result.client = Difference(begin.usages[0], end.usages[0]);
  for (size_t i = 0; i < plan.watched.size(); ++i) {
    result.watched.push_back(
        {plan.watched[i].name, Difference(begin.usages[i + 1], end.usages[i + 1])});
  }
  return result;
}

// True if the pumps ended before.
bool WaitUntil(absl::Notification* all_done, int64_t ns) {
  const int64_t left_ns = std::max<int64_t>(0, ns - Clock::Real()->NowNs());
  return all_done->WaitForNotificationWithTimeout(absl::Nanoseconds(left_ns));
}

}  // namespace

void LoadCounts::Merge(const LoadCounts& other) {
  latency.Merge(other.latency);
  lateness.Merge(other.lateness);
  intended += other.intended;
  good += other.good;
  answered_in_window += other.answered_in_window;
  good_in_window += other.good_in_window;
  ended_in_window += other.ended_in_window;
  wrong += other.wrong;
  not_sent += other.not_sent;
  for (const auto& [code, count] : other.errors) errors[code] += count;
  timeline.Merge(other.timeline);
}

bool AllRight(const LoadResult& result) {
  return result.counts.wrong == 0 && result.counts.errors.empty() && result.counts.not_sent == 0;
}

absl::StatusOr<LoadResult> RunLoad(const LoadPlan& plan,
                                   const std::vector<PreparedRequest>& requests) {
  std::atomic<int64_t> tickets{static_cast<int64_t>(plan.request_count)};
  return RunLoadWith(plan, [&](uint32_t thread) {
    return plan.streams > 0
               ? MakeStreamPump(plan, requests, thread)
               : MakeCallPump(plan, requests, plan.request_count > 0 ? &tickets : nullptr, thread);
  });
}

absl::StatusOr<LoadResult> RunLoadWith(const LoadPlan& plan, const PumpMaker& make_pump) {
  absl::StatusOr<Pumps> pumps = MakePumps(plan, make_pump);
  if (!pumps.ok()) return pumps.status();
  absl::StatusOr<Sample> begin = TakeSample(plan);
  if (!begin.ok()) return begin.status();

  const int64_t begin_ns = Clock::Real()->NowNs() + plan.warmup_ns;
  const Window window{begin_ns, begin_ns + plan.duration_ns};
  absl::Notification all_done;
  absl::Notification sampled;
  std::atomic<size_t> left{pumps->size()};
  std::vector<std::thread> threads;
  for (const auto& pump : *pumps) {
    threads.emplace_back([&, pump = pump.get()] {
      pump->Run(window);
      if (left.fetch_sub(1) == 1) all_done.Notify();
      sampled.WaitForNotification();  // an ended thread's switches would be lost
    });
  }
  if (plan.warmup_ns > 0 && !WaitUntil(&all_done, window.begin_ns)) begin = TakeSample(plan);
  WaitUntil(&all_done, window.end_ns);
  absl::StatusOr<Sample> end = TakeSample(plan);
  sampled.Notify();
  for (std::thread& thread : threads) thread.join();
  if (!begin.ok()) return begin.status();
  if (!end.ok()) return end.status();
  return MakeResult(plan, *pumps, *begin, *end);
}

}  // namespace mpsd::traffic
