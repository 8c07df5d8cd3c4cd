#include "tests/model/ring_scenarios.h"

#include <utility>

#include "proto/shm/doorbell.h"
#include "proto/shm/ring.h"
#include "tests/model/simulated_atomics.h"

namespace mpsd::model {
namespace {

using Kind = Operation::Kind;
using Producer = BasicRingProducer<SimulatedAtomics>;
using Consumer = BasicRingConsumer<SimulatedAtomics>;

constexpr uint32_t kPlaces = SimulatedAtomics::kRingEntries;

void Meet(uint32_t progress) { Machine::current()->Meet(progress); }
bool Running() { return Machine::current()->Running(); }
void Expect(bool held, const char* what) { Machine::current()->Expect(held, what); }
uint32_t Payload(uint32_t number) { return 100 + number; }

// One direction of a lane: the ring's words, and what its entries name.
struct Direction {
  SimulatedWord entries[kPlaces] = {SimulatedWord(SimulatedWord::Kind::kPlain),
                                    SimulatedWord(SimulatedWord::Kind::kPlain)};
  SimulatedWord records[kPlaces] = {SimulatedWord(SimulatedWord::Kind::kPlain),
                                    SimulatedWord(SimulatedWord::Kind::kPlain)};
  SimulatedWord tail;
  SimulatedWord head;

  Producer producer() { return Producer(entries, &tail, &head); }
  Consumer consumer() { return Consumer(entries, &tail, &head); }

  void Publish(Producer* ring, uint32_t number) {
    records[number % kPlaces].store(Payload(number), std::memory_order_relaxed);
    Expect(ring->Push(number % kPlaces), "a ring is full though its entries were within credit");
  }

  void Take(Consumer* ring, uint32_t number) {
    Expect(!ring->Corrupt(), "an honest tail is out of bounds");
    const uint32_t place = ring->Peek() % kPlaces;
    Expect(place == number % kPlaces, "an entry is lost or torn");
    Expect(records[place].load(std::memory_order_relaxed) == Payload(number),
           "a record is not the one that was published");
    ring->Pop();
  }
};

// The words of a lane and of its worker's page, and what each side does with them.
struct Words {
  Direction submitted;
  Direction completed;
  SimulatedWord sequence;
  SimulatedWord lane_parked;
  SimulatedWord front_parked;
  SimulatedWord bell;  // the pipe

  // ---- the front end ----

  void Submit(Producer* ring, BasicLaneBell<SimulatedAtomics>* lane_bell, uint32_t number) {
    submitted.Publish(ring, number);
    if (lane_bell->Ring()) lane_bell->Wake();
  }

  // As the plane's only thread does: drain, park, look once more, sleep, wake, clear, drain.
  void AwaitCompletion(Consumer* ring, uint32_t progress) {
    BasicFrontFlag<SimulatedAtomics> flag(&front_parked);
    for (Meet(progress); Running() && !ring->Pending(); Meet(progress)) {
      flag.Set(true);
      if (ring->Pending()) {
        flag.Set(false);
        return;
      }
      bell.Do(Kind::kWaitForBell);
      flag.Set(false);
      bell.Do(Kind::kClearBell);
    }
  }

  // ---- a lane ----

  void AwaitSubmission(Consumer* ring, uint32_t progress) {
    BasicLaneSleep<SimulatedAtomics> sleep(&sequence, &lane_parked);
    for (Meet(progress); Running() && !ring->Pending(); Meet(progress)) {
      sleep.Sleep([ring] { return ring->Pending(); }, 0);
    }
  }

  void Complete(Direction* direction, Producer* ring, uint32_t number) {
    direction->Publish(ring, number);
    if (BasicFrontBell<SimulatedAtomics>(&front_parked).Owed()) bell.Do(Kind::kRingBell);
  }
};

// A ring without bells, pushed into until it is full.
Verdict SearchRing() {
  constexpr uint32_t kTries = 5;
  Machine machine;
  Direction ring;
  const auto produce = [&] {
    Producer producer = ring.producer();
    uint32_t pushed = 0;
    for (uint32_t i = 0; i < kTries && Running(); ++i) pushed += producer.Push(pushed) ? 1 : 0;
  };
  const auto consume = [&] {
    Consumer consumer = ring.consumer();
    uint32_t taken = 0;
    for (uint32_t i = 0; i < kTries && Running(); ++i) {
      if (!consumer.Pending()) continue;
      Expect(!consumer.Corrupt(), "an honest tail is out of bounds");
      Expect(consumer.Peek() == taken, "an entry is lost or torn");
      consumer.Pop();
      ++taken;
    }
  };
  return machine.Search({produce, consume});
}

// Batches to a lane that sleeps between them.
Verdict SearchLaneBell() {
  Machine machine;
  Words words;
  const auto front = [&] {
    Producer ring = words.submitted.producer();
    BasicLaneBell<SimulatedAtomics> bell(&words.sequence, &words.lane_parked);
    for (uint32_t i = 0; i < kPlaces && Running(); ++i) words.Submit(&ring, &bell, i);
  };
  const auto lane = [&] {
    Consumer ring = words.submitted.consumer();
    for (uint32_t i = 0; i < kPlaces && Running(); ++i) {
      words.AwaitSubmission(&ring, i);
      words.submitted.Take(&ring, i);
    }
  };
  return machine.Search({front, lane});
}

// Completions of one lane to a front end that sleeps between them.
Verdict SearchFrontBell() {
  Machine machine;
  Words words;
  const auto front = [&] {
    Consumer ring = words.completed.consumer();
    for (uint32_t i = 0; i < kPlaces && Running(); ++i) {
      words.AwaitCompletion(&ring, i);
      words.completed.Take(&ring, i);
    }
  };
  const auto lane = [&] {
    Producer ring = words.completed.producer();
    for (uint32_t i = 0; i < kPlaces && Running(); ++i) {
      words.Complete(&words.completed, &ring, i);
    }
  };
  return machine.Search({front, lane});
}

// Batches go to a lane and their completions come back, at most `depth` of them inside.
Verdict SearchHops(uint32_t hops, uint32_t depth) {
  Machine machine;
  Words words;
  const auto front = [&] {
    Producer submit = words.submitted.producer();
    Consumer completions = words.completed.consumer();
    BasicLaneBell<SimulatedAtomics> bell(&words.sequence, &words.lane_parked);
    uint32_t submitted = 0;
    for (uint32_t taken = 0; taken < hops && Running(); ++taken) {
      while (submitted < hops && submitted - taken < depth && Running()) {
        words.Submit(&submit, &bell, submitted++);
      }
      words.AwaitCompletion(&completions, taken);
      words.completed.Take(&completions, taken);
    }
  };
  const auto lane = [&] {
    Consumer submissions = words.submitted.consumer();
    Producer complete = words.completed.producer();
    for (uint32_t i = 0; i < hops && Running(); ++i) {
      words.AwaitSubmission(&submissions, i);
      words.submitted.Take(&submissions, i);
      words.Complete(&words.completed, &complete, i);
    }
  };
  return machine.Search({front, lane});
}

Verdict SearchHopsOneByOne() { return SearchHops(/*hops=*/4, /*depth=*/1); }
Verdict SearchHopsWithOneQueued() { return SearchHops(/*hops=*/4, /*depth=*/2); }

// A private word of a consumer that several threads use in turn.
class SharedPrivateWord {
 public:
  explicit SharedPrivateWord(uint32_t) : word_(SimulatedWord::Kind::kPlain) {}
  uint32_t load(std::memory_order order) const { return word_.load(order); }
  void store(uint32_t value, std::memory_order order) { word_.store(value, order); }

 private:
  SimulatedWord word_;
};

struct FrontThreadAtomics : SimulatedAtomics {
  using PrivateWord = SharedPrivateWord;
};

// A pool and a plane with two threads, reduced to what they do with the flag: a door thread, which
// sleeps for good when it has nothing to do, and the supervisor's, which sleeps on the bell.
struct FrontThreads {
  static constexpr uint32_t kCompletions = 1;

  Words words;
  BasicRingConsumer<FrontThreadAtomics> ring{words.completed.entries, &words.completed.tail,
                                             &words.completed.head};
  SimulatedWord taken{SimulatedWord::Kind::kPlain};
  SimulatedWord mutex;  // the pool's
  SimulatedWord awake;  // the plane's

  bool Drain() {
    mutex.Do(Kind::kLock);
    uint32_t number = taken.load(std::memory_order_relaxed);
    bool any = false;
    for (; Running() && number < kCompletions && ring.Pending(); any = true) {
      Expect(ring.Peek() == number % kPlaces, "an entry is lost or torn");
      ring.Pop();
      taken.store(++number, std::memory_order_relaxed);
    }
    mutex.Do(Kind::kUnlock);
    return any;
  }

  void SetParked(bool parked) {
    mutex.Do(Kind::kLock);
    BasicFrontFlag<SimulatedAtomics>(&words.front_parked).Set(parked);
    mutex.Do(Kind::kUnlock);
  }

  void Wake() {
    if (awake.Do(Kind::kAdd, 1) == 0) SetParked(false);
  }

  bool Park() {
    if (awake.Do(Kind::kAdd, UINT32_MAX) == 1) SetParked(true);
    if (!Drain()) return true;
    Wake();
    return false;
  }
};

Verdict SearchFrontThreads() {
  Machine machine;
  FrontThreads front;
  machine.RestWhen(front.taken.location(), FrontThreads::kCompletions);
  const auto queue_thread = [&] {
    front.Wake();
    for (Meet(0); Running() && (front.Drain() || !front.Park()); Meet(0)) {
    }
  };
  const auto supervisor = [&] {
    front.Wake();
    for (Meet(0); Running(); Meet(0)) {
      if (front.Drain() || !front.Park()) continue;
      front.words.bell.Do(Kind::kWaitForBell);
      front.Wake();
      front.words.bell.Do(Kind::kClearBell);
    }
  };
  const auto lane = [&] {
    Producer ring = front.words.completed.producer();
    for (uint32_t i = 0; i < FrontThreads::kCompletions && Running(); ++i) {
      front.words.Complete(&front.words.completed, &ring, i);
    }
  };
  return machine.Search({queue_thread, supervisor, lane});
}

}  // namespace

const std::vector<Scenario>& RingScenarios() {
  static const std::vector<Scenario> scenarios = {{"Ring", SearchRing},
                                                  {"LaneBell", SearchLaneBell},
                                                  {"FrontBell", SearchFrontBell},
                                                  {"HopsOneByOne", SearchHopsOneByOne},
                                                  {"HopsWithOneQueued", SearchHopsWithOneQueued},
                                                  {"FrontThreads", SearchFrontThreads}};
  return scenarios;
}

std::string FirstFault() {
  for (const Scenario& scenario : RingScenarios()) {
    const Verdict verdict = scenario.search();
    if (!verdict.fault.empty()) return std::string(scenario.name) + ": " + verdict.fault;
  }
  return "";
}

}  // namespace mpsd::model
