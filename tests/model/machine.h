// Machine: simulated shared memory under the C++ memory model, and the search through everything
// that threads over it can do.
//
// Each location keeps all values that were stored to it, in their order; it has one writer, so that
// order is the writer's. Each thread has a view: how far into each location's stores it has seen. A
// load may take any store that its view does not forbid, so a stale value is one outcome among
// others, and the search tries them all.
//   relaxed  the view moves on at this location only
//   release  the store carries the storer's view; an acquire load of it joins that view
//   seq_cst  besides, a load takes no store older than the newest that a seq_cst access of this
//            location has stored or loaded before it
// The total order of seq_cst accesses is that of the search's steps, as x86 and ARMv8 have it. A
// load never takes a value that is stored after it; where a real machine could do that, the search
// reports the race behind it: ring entries and records are plain locations, and each access of one
// must happen after the other side's last.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace mpsd::model {

inline constexpr int kMaxThreads = 3;

// How many of each location's stores, and of each plain location's loads, somebody knows of.
using View = std::array<uint8_t, 64>;

struct Operation {
  enum class Kind : uint8_t {
    kLoad,
    kStore,
    kAdd,  // seq_cst; its result is the value before
    kPlainLoad,
    kPlainStore,
    kWaitOnWord,  // sleeps while the word holds `value`
    kWakeWord,
    kRingBell,
    kWaitForBell,
    kClearBell,
    kLock,
    kUnlock,
  };
  Kind kind = Kind::kLoad;
  int location = 0;
  std::memory_order order = std::memory_order_seq_cst;
  uint32_t value = 0;
};

struct Verdict {
  std::string fault;  // empty: nothing was found
  std::string trace;  // the steps that lead to it
  uint64_t states = 0;
  bool whole = true;  // false: a thread was stopped after Machine::kMaxSteps
};

// Runs the bodies of some threads in every order, with every value that their loads may take. A
// body is run over and over, each time one step further, with the results of its earlier steps
// played back; behind the last one every operation gives 0 and has no effect. So a body keeps no
// state outside of itself, and its loops end when !Running(). One exists at a time. Lives on one
// thread.
class Machine {
 public:
  using Body = std::function<void()>;

  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static Machine* current() { return current_; }

  // A new location, which holds 0. Before Search().
  int Add(bool plain);

  // Threads may sleep for good once this location holds `value`. Before Search().
  void RestWhen(int location, uint32_t value);

  Verdict Search(std::vector<Body> bodies);

  // ---- for the bodies ----
  uint32_t Do(const Operation& operation);
  bool Running() const { return !beyond_; }
  // All that the body goes by from here on is `progress` and its own last stores: what it had seen
  // on the way makes no difference any more. So ways that meet here are followed once.
  void Meet(uint32_t progress);
  // A belief that must hold whenever a body comes by.
  void Expect(bool held, const char* what);

 private:
  static constexpr size_t kMaxSteps = 150;

  struct Store {
    uint32_t value = 0;
    View view{};  // knowledge that an acquire load takes over
  };

  struct Location {
    std::vector<Store> stores{1};
    uint8_t sequential = 0;  // the newest store that a seq_cst access has met
    uint8_t raised = 0;      // a bell that was rung, a lock that is held
    View kernel{};           // knowledge that its system calls have passed on
  };

  struct Thread {
    std::vector<uint32_t> results;
    size_t met_at = 0;      // how many of the results no longer count
    uint32_t progress = 0;  // that stands in for them
    View view{};
    bool asleep = false;
    bool finished = false;
    Operation next;
  };

  // A step on the way to the state that is being looked at.
  struct Taken {
    int thread = 0;
    Operation operation;
    uint32_t result = 0;
  };

  struct State {
    std::vector<Location> locations;
    std::vector<Thread> threads;
  };

  void Explore(const State& state);
  void Step(const State& state, int index);
  void StepLoad(const State& state, int index);
  void StepStore(State next, int index);
  void StepAdd(State next, int index);
  void StepWaitOnWord(const State& state, int index);
  void StepSystemCall(State next, int index);
  void Finish(State next, int index, uint32_t result);
  bool Advance(State* state, int index);
  bool DoPlain(State* state, int index);
  bool Replay(State* state, int index);
  static bool Enabled(const State& state, const Thread& thread);
  static uint64_t PrintOf(const State& state);
  void Fail(const std::string& what);

  static Machine* current_;

  // Constant during a search.
  std::vector<int> load_slots_;  // a plain location's places in a view, by thread; else -1
  int slot_count_ = 0;
  std::vector<Body> bodies_;
  int rest_location_ = -1;
  uint32_t rest_value_ = 0;

  std::unordered_set<uint64_t> seen_;
  std::vector<Taken> path_;
  Verdict verdict_;

  // State of the replay that is on.
  const std::vector<uint32_t>* results_ = nullptr;
  size_t cursor_ = 0;
  bool beyond_ = false;
  Operation next_;
  size_t met_at_ = 0;
  uint32_t progress_ = 0;
  std::string broken_;
};

}  // namespace mpsd::model
