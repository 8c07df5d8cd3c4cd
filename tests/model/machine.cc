#include "tests/model/machine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd::model {
namespace {

using Kind = Operation::Kind;

constexpr const char* kKindNames[] = {"load",          "store",        "add",       "plain load",
                                      "plain store",   "wait on word", "wake word", "ring bell",
                                      "wait for bell", "clear bell",   "lock",      "unlock"};

void Join(const View& other, View* view) {
  for (size_t i = 0; i < view->size(); ++i) (*view)[i] = std::max((*view)[i], other[i]);
}

bool Acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}

bool Releases(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_acquire;
}

// Two states with the same print are taken for one: at 64 bits and some millions of states that is
// wrong once in a million searches.
class Print {
 public:
  // A view's knowledge is printed relative to `base`.
  explicit Print(const View& base) : base_(base) {}

  void Take(uint64_t number) {
    number *= 0x9e37'79b9'7f4a'7c15ULL;
    value_ = (value_ ^ (number ^ (number >> 32))) * 0xd6e8'feb8'6659'fd93ULL;
    value_ ^= value_ >> 29;
  }
  void Take(const View& view) {
    View beyond;
    for (size_t i = 0; i < view.size(); ++i) beyond[i] = view[i] - std::min(view[i], base_[i]);
    for (size_t i = 0; i < view.size(); i += 8) {
      uint64_t number = 0;
      std::memcpy(&number, beyond.data() + i, 8);
      Take(number);
    }
  }
  uint64_t value() const { return value_; }

 private:
  const View& base_;
  uint64_t value_ = 1;
};

}  // namespace

Machine* Machine::current_ = nullptr;

Machine::Machine() {
  MPSD_CHECK(current_ == nullptr);
  current_ = this;
}

Machine::~Machine() { current_ = nullptr; }

int Machine::Add(bool plain) {
  const int location = static_cast<int>(load_slots_.size());
  load_slots_.push_back(plain ? 0 : -1);
  return location;
}

void Machine::RestWhen(int location, uint32_t value) {
  rest_location_ = location;
  rest_value_ = value;
}

Verdict Machine::Search(std::vector<Body> bodies) {
  MPSD_CHECK(bodies.size() <= kMaxThreads);
  bodies_ = std::move(bodies);
  auto slots = static_cast<int>(load_slots_.size());
  for (int& slot : load_slots_) {
    if (slot >= 0) slot = std::exchange(slots, slots + kMaxThreads);
  }
  MPSD_CHECK(slots <= static_cast<int>(View{}.size()));
  State state;
  state.locations.resize(load_slots_.size());
  state.threads.resize(bodies_.size());
  for (size_t i = 0; i < bodies_.size(); ++i) {
    if (!Advance(&state, static_cast<int>(i))) return verdict_;
  }
  Explore(state);
  verdict_.states = seen_.size();
  return verdict_;
}

uint32_t Machine::Do(const Operation& operation) {
  if (beyond_) return 0;
  if (cursor_ < results_->size()) return (*results_)[cursor_++];
  beyond_ = true;
  next_ = operation;
  return 0;
}

void Machine::Meet(uint32_t progress) {
  if (beyond_) return;
  met_at_ = cursor_;
  progress_ = progress;
}

void Machine::Expect(bool held, const char* what) {
  if (!beyond_ && !held && broken_.empty()) broken_ = what;
}

void Machine::Explore(const State& state) {
  if (!seen_.insert(PrintOf(state)).second) return;
  bool stuck = true;
  bool finished = true;
  for (int i = 0; i < static_cast<int>(state.threads.size()); ++i) {
    const Thread& thread = state.threads[i];
    finished = finished && thread.finished;
    if (!Enabled(state, thread)) continue;
    stuck = false;
    Step(state, i);
    if (!verdict_.fault.empty()) return;
  }
  const bool rests =
      rest_location_ >= 0 && state.locations[rest_location_].stores.back().value == rest_value_;
  if (stuck && !finished && !rests) Fail("nobody can go on: a wake was lost");
}

bool Machine::Enabled(const State& state, const Thread& thread) {
  if (thread.finished || thread.asleep) return false;
  const bool raised = state.locations[thread.next.location].raised != 0;
  if (thread.next.kind == Kind::kWaitForBell) return raised;
  if (thread.next.kind == Kind::kLock) return !raised;
  return true;
}

void Machine::Step(const State& state, int index) {
  switch (state.threads[index].next.kind) {
    case Kind::kLoad:
      return StepLoad(state, index);
    case Kind::kStore:
      return StepStore(state, index);
    case Kind::kAdd:
      return StepAdd(state, index);
    case Kind::kWaitOnWord:
      return StepWaitOnWord(state, index);
    default:
      return StepSystemCall(state, index);
  }
}

void Machine::StepLoad(const State& state, int index) {
  const Operation& load = state.threads[index].next;
  const Location& location = state.locations[load.location];
  const bool sequential = load.order == std::memory_order_seq_cst;
  size_t at = state.threads[index].view[load.location];
  if (sequential) at = std::max<size_t>(at, location.sequential);
  for (; at < location.stores.size() && verdict_.fault.empty(); ++at) {
    State next = state;
    View& view = next.threads[index].view;
    view[load.location] = static_cast<uint8_t>(at);
    if (Acquires(load.order)) Join(location.stores[at].view, &view);
    if (sequential) next.locations[load.location].sequential = static_cast<uint8_t>(at);
    Finish(std::move(next), index, location.stores[at].value);
  }
}

void Machine::StepStore(State next, int index) {
  Thread& thread = next.threads[index];
  const Operation store = thread.next;
  Location& location = next.locations[store.location];
  if (thread.view[store.location] + 1U != location.stores.size()) {
    return Fail("a word has two writers at once");
  }
  thread.view[store.location] = static_cast<uint8_t>(location.stores.size());
  Store& made = location.stores.emplace_back();
  made.value = store.value;
  made.view[store.location] = thread.view[store.location];
  if (Releases(store.order)) made.view = thread.view;
  if (store.order == std::memory_order_seq_cst) {
    location.sequential = thread.view[store.location];
  }
  Finish(std::move(next), index, 0);
}

void Machine::StepAdd(State next, int index) {
  Thread& thread = next.threads[index];
  const Operation add = thread.next;
  Location& location = next.locations[add.location];
  const uint32_t before = location.stores.back().value;
  Join(location.stores.back().view, &thread.view);
  thread.view[add.location] = static_cast<uint8_t>(location.stores.size());
  location.sequential = thread.view[add.location];
  location.stores.push_back({before + add.value, thread.view});
  Finish(std::move(next), index, before);
}

// The kernel compares under a lock that a waker takes too: it sees at least what the last waker had
// seen, and a waker that comes later finds the sleeper.
void Machine::StepWaitOnWord(const State& state, int index) {
  const Operation& wait = state.threads[index].next;
  const Location& location = state.locations[wait.location];
  size_t at = std::max(state.threads[index].view[wait.location], location.kernel[wait.location]);
  for (; at < location.stores.size() && verdict_.fault.empty(); ++at) {
    State next = state;
    Join(location.kernel, &next.threads[index].view);
    next.threads[index].view[wait.location] = static_cast<uint8_t>(at);
    if (location.stores[at].value != wait.value) {
      Finish(std::move(next), index, 1);
    } else {
      next.threads[index].asleep = true;
      path_.push_back({index, wait, 0});
      Explore(next);
      path_.pop_back();
    }
  }
}

void Machine::StepSystemCall(State next, int index) {
  const Operation call = next.threads[index].next;
  Location& location = next.locations[call.location];
  Join(location.kernel, &next.threads[index].view);
  Join(next.threads[index].view, &location.kernel);
  if (call.kind == Kind::kRingBell || call.kind == Kind::kLock) location.raised = 1;
  if (call.kind == Kind::kClearBell || call.kind == Kind::kUnlock) location.raised = 0;
  for (size_t i = 0; call.kind == Kind::kWakeWord && i < next.threads.size(); ++i) {
    Thread& sleeper = next.threads[i];
    if (!sleeper.asleep || sleeper.next.location != call.location) continue;
    sleeper.asleep = false;
    sleeper.results.push_back(1);
    Join(location.kernel, &sleeper.view);
    if (!Advance(&next, static_cast<int>(i))) return;
  }
  Finish(std::move(next), index, 1);
}

void Machine::Finish(State next, int index, uint32_t result) {
  const Operation& done = next.threads[index].next;
  path_.push_back({index, done, result});
  next.threads[index].results.push_back(result);
  if (Advance(&next, index)) Explore(next);
  path_.pop_back();
}

// Takes the thread on to its next step that others can notice. False when that is nowhere.
bool Machine::Advance(State* state, int index) {
  const Thread& thread = state->threads[index];
  bool well = Replay(state, index);
  while (well && !thread.finished &&
         (thread.next.kind == Kind::kPlainLoad || thread.next.kind == Kind::kPlainStore)) {
    well = DoPlain(state, index) && Replay(state, index);
  }
  return well;
}

bool Machine::DoPlain(State* state, int index) {
  Thread& thread = state->threads[index];
  const Operation plain = thread.next;
  Location& location = state->locations[plain.location];
  const int loads = load_slots_[plain.location];
  if (thread.view[plain.location] + 1U != location.stores.size()) {
    Fail("a race: a plain access that does not happen after the last store");
    return false;
  }
  if (plain.kind == Kind::kPlainLoad) {
    thread.view[loads + index] = ++location.kernel[loads + index];
    thread.results.push_back(location.stores.back().value);
    return true;
  }
  for (int i = loads; i < loads + kMaxThreads; ++i) {
    if (thread.view[i] == location.kernel[i]) continue;
    Fail("a race: a plain store that does not happen after the last load");
    return false;
  }
  thread.view[plain.location] = static_cast<uint8_t>(location.stores.size());
  location.stores.push_back({plain.value, {}});
  thread.results.push_back(0);
  return true;
}

// Runs the body up to its first step that has no result yet. False when it met a broken belief or
// has made too many steps.
bool Machine::Replay(State* state, int index) {
  Thread& thread = state->threads[index];
  results_ = &thread.results;
  cursor_ = 0;
  beyond_ = false;
  met_at_ = 0;
  progress_ = 0;
  bodies_[index]();
  thread.met_at = met_at_;
  thread.progress = progress_;
  thread.finished = !beyond_;
  thread.next = next_;
  if (!broken_.empty()) {
    Fail(broken_);
    return false;
  }
  verdict_.whole = verdict_.whole && thread.results.size() < kMaxSteps;
  return thread.results.size() < kMaxSteps;
}

// Stores that every thread has seen and gone beyond make no difference: all counts are taken from
// the oldest store that somebody could still load.
uint64_t Machine::PrintOf(const State& state) {
  View base = state.threads[0].view;
  for (const Thread& thread : state.threads) {
    for (size_t i = 0; i < base.size(); ++i) base[i] = std::min(base[i], thread.view[i]);
  }
  Print print(base);
  for (size_t i = 0; i < state.locations.size(); ++i) {
    const Location& location = state.locations[i];
    const int sequential = std::max(0, location.sequential - base[i]);
    print.Take((location.stores.size() - base[i]) << 16 | sequential << 8 | location.raised);
    print.Take(location.kernel);
    for (size_t at = base[i]; at < location.stores.size(); ++at) {
      print.Take(location.stores[at].value);
      print.Take(location.stores[at].view);
    }
  }
  for (const Thread& thread : state.threads) {
    print.Take((thread.results.size() - thread.met_at) << 2 | thread.asleep << 1 | thread.finished);
    print.Take(thread.progress);
    for (size_t i = thread.met_at; i < thread.results.size(); ++i) print.Take(thread.results[i]);
    print.Take(thread.view);
  }
  return print.value();
}

void Machine::Fail(const std::string& what) {
  verdict_.fault = what;
  for (const Taken& taken : path_) {
    const Operation& operation = taken.operation;
    absl::StrAppend(&verdict_.trace, "  thread ", taken.thread, ": ",
                    kKindNames[static_cast<int>(operation.kind)], " of ", operation.location, " (",
                    operation.value, ") gives ", taken.result, "\n");
  }
}

}  // namespace mpsd::model
