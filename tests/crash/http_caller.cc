#include "tests/crash/http_caller.h"

#include <chrono>
#include <thread>
#include <vector>

#include "proto/base/clock.h"

namespace mpsd::crash {
namespace {

constexpr std::chrono::milliseconds kPoll{2};
// Between the pieces of a slow request, and where nobody listens.
constexpr std::chrono::milliseconds kPause{4};
constexpr size_t kPieces = 8;

// An ending that no server may give a call.
CallEnding Broken(const char* how) { return {{grpc::StatusCode::UNKNOWN, how}, {}}; }

CallEnding Left() { return {{grpc::StatusCode::CANCELLED, "CANCELLED"}, {}}; }

}  // namespace

HttpCaller::HttpCaller(const CallerPlan& plan)
    : plan_(plan), source_(plan), history_(plan.payload) {}

HttpCaller::Turn HttpCaller::Begin() {
  absl::MutexLock lock(&mu_);
  history_.Sent();
  Turn turn;
  turn.call = source_.Next();
  turn.call.stalled_before_ns = stalls_.StalledNs();
  turn.call.sent_ns = Clock::Real()->NowNs();
  turn.is_slow = source_.Draw(plan_.slow_percent);
  turn.cuts_request = source_.Draw(plan_.cut_percent);
  turn.leaves_after_ns = source_.DrawCancelNs();
  return turn;
}

void HttpCaller::End(const Call& call, const CallEnding& ending) {
  const int64_t stalled_ns = stalls_.StalledNs() - call.stalled_before_ns;
  const int64_t now_ns = Clock::Real()->NowNs() - stalled_ns;
  absl::MutexLock lock(&mu_);
  history_.Ended(call, ending.status, ending.response, now_ns);
}

// The call's time is counted from its last piece on, by which the server has all of it.
bool HttpCaller::Send(HttpWire* wire, absl::string_view request, Turn* turn) {
  const size_t piece_bytes = turn->is_slow ? request.size() / kPieces + 1 : request.size();
  for (size_t at = 0; at < request.size(); at += piece_bytes) {
    if (at > 0) std::this_thread::sleep_for(kPause);
    turn->call.stalled_before_ns = stalls_.StalledNs();
    turn->call.sent_ns = Clock::Real()->NowNs();
    if (!wire->Send(request.substr(at, piece_bytes))) return false;
  }
  return true;
}

std::optional<CallEnding> HttpCaller::Exchange(HttpWire* wire, Turn* turn) {
  const std::string request = HttpInferRequest(plan_.model, plan_.payload, turn->call);
  if (wire->HasUnasked()) {
    wire->Close();
    return Broken("bytes behind the answer before");
  }
  if (!wire->Connect()) {
    std::this_thread::sleep_for(kPause);
    return Broken("nobody listens");
  }
  const size_t size = turn->cuts_request ? request.size() / 2 : request.size();
  const bool is_sent = Send(wire, absl::string_view(request).substr(0, size), turn);
  if (turn->cuts_request) {
    wire->Close();
    return Left();
  }
  const Call& call = turn->call;
  const int64_t wait_ns = call.cancelled ? turn->leaves_after_ns : call.timeout_ns + kBackstopNs;
  HttpReply reply;
  const HttpWire::Outcome outcome =
      is_sent ? wire->Read(call.sent_ns + wait_ns, &reply) : HttpWire::Outcome::kBroken;
  if (outcome == HttpWire::Outcome::kReply) return HttpInferEnding(reply);
  wire->Close();
  if (outcome == HttpWire::Outcome::kBroken) return Broken("the connection ended, not the call");
  if (call.cancelled) return Left();
  return std::nullopt;
}

void HttpCaller::Main() {
  HttpWire wire(plan_.address);
  while (!stopping_.load(std::memory_order_relaxed)) {
    Turn turn = Begin();
    const std::optional<CallEnding> ending = Exchange(&wire, &turn);
    if (ending.has_value()) {
      End(turn.call, *ending);
    } else {
      never_ended_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

std::string HttpCaller::Run(const std::function<bool()>& stop) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < plan_.concurrency; ++i) threads.emplace_back([this] { Main(); });
  while (!stop()) std::this_thread::sleep_for(kPoll);
  stopping_.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) thread.join();
  absl::MutexLock lock(&mu_);
  return history_.Report(never_ended_.load(std::memory_order_relaxed));
}

}  // namespace mpsd::crash
