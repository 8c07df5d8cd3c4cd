// Case: one thing that several threads do on mps at once, and how much of it went wrong.
#pragma once

#include <c10/core/Device.h>

#include <atomic>
#include <functional>
#include <string>

namespace mpsd::standin {

inline const c10::Device kMps(c10::DeviceType::MPS, 0);

// How many threads a case has, and how often each runs.
struct CaseSize {
  int threads = 4;
  int rounds = 50;
};

// Counts of a case. Thread-safe.
struct CaseCounts {
  std::atomic<int> wrong{0};   // answers that differ
  std::atomic<int> failed{0};  // threads that got an error
};

using Case = std::function<void(const CaseSize& size, CaseCounts& counts)>;

// Runs `round` on each thread, round after round, until it throws.
void RunOnThreads(const CaseSize& size, CaseCounts& counts,
                  const std::function<void(int thread, int round)>& round);

// Waits until `wanted` threads have called this function with `arrived`. It gives up where the
// others cannot come: a stock libtorch has one queue, in which nobody can meet.
void Meet(std::atomic<int>& arrived, int wanted);

// Copies from the cpu to mps, there, and back.
void Copies(const CaseSize& size, CaseCounts& counts);
// The same with a wait for the whole device in each round.
void DeviceWaits(const CaseSize& size, CaseCounts& counts);
// A wait for the whole device after copies that another thread has queued.
void WaitsForOthers(const CaseSize& size, CaseCounts& counts);
// Buffers that are freed while the gpu still works with them.
void FreedBuffers(const CaseSize& size, CaseCounts& counts);
// The same, of many sizes, beside a thread that gives unused memory back.
void FreedBesideTrims(const CaseSize& size, CaseCounts& counts);
// Threads that come and go beside one that gives unused memory back.
void Churn(const CaseSize& size, CaseCounts& counts);
// Events that one thread records and another waits for.
void Events(const CaseSize& size, CaseCounts& counts);
// The streams that c10's guard gives to a thread.
void Guards(const CaseSize& size, CaseCounts& counts);
// The time between two events that were made without timing, which is an error.
void UntimedEvents(const CaseSize& size, CaseCounts& counts);
// More threads at a time than there are streams: 31 get one, the others an error.
void Exhaustion(const CaseSize& size, CaseCounts& counts);
// A small network of linear layers, with each layer's answer of the cpu beside it.
void Layers(const CaseSize& size, CaseCounts& counts);
// Convolutions with padding, stride and groups, likewise.
void Convolutions(const CaseSize& size, CaseCounts& counts);
// An encoder's layer, written out: in-projection, heads, softmax, LayerNorm, GELU.
void Attention(const CaseSize& size, CaseCounts& counts);
// A LayerNorm, as the other operators that keep state in the framework.
void LayerNorms(const CaseSize& size, CaseCounts& counts);

// More threads than there are streams, of which each ends soon: with patience all of them run.
void Patience(const CaseSize& size, CaseCounts& counts);
// More shapes than a thread's cache of graphs holds.
void ManyShapes(const CaseSize& size, CaseCounts& counts);
// Copies that nobody waits for, whose command buffers end all the same.
void KeptBuffers(const CaseSize& size, CaseCounts& counts);
// Commits of streams that keep their command buffer, or do not, as the environment says.
void Continues(const CaseSize& size, CaseCounts& counts);
// The queue that libtorch's hooks name is that of the thread's own stream.
void OwnQueues(const CaseSize& size, CaseCounts& counts);
// The same in a task that a thread has forked.
void Forks(const CaseSize& size, CaseCounts& counts);
// The same in a block in which a kernel of a shader is encoded.
void KernelBlocks(const CaseSize& size, CaseCounts& counts);
// A stream that all threads use: they find one command buffer.
void SharedStreams(const CaseSize& size, CaseCounts& counts);
// Views that all threads copy at once, so that each kernel of a shader is compiled once.
void Views(const CaseSize& size, CaseCounts& counts);
// Unused memory is given back in a block of a stream's queue, by several threads at once.
void TrimsInBlocks(const CaseSize& size, CaseCounts& counts);

}  // namespace mpsd::standin
