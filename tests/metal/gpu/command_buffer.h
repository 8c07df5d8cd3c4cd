// CommandBuffer: commands that the host collects, and that a queue of the gpu runs in order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/metal/gpu/gpu_memory.h"
#include "tests/metal/rules/buffer_life.h"
#include "tests/metal/rules/one_thread.h"

namespace mpsd::standin {

inline constexpr Rule kCommandFails{"command-fails",
                                    "a command that the gpu cannot run fails its command buffer"};

// One command: what it does, and the memory that it reads and writes.
struct Command {
  std::function<void()> run;
  std::vector<GpuRange> reads;
  std::vector<GpuRange> writes;
};

// Thread-compatible: one thread at a time fills the buffer, then the gpu runs it. Each call holds
// turn() itself. A refused call has broken a rule and does nothing.
class CommandBuffer {
 public:
  using Handler = std::function<void()>;

  OneThread& turn() { return turn_; }
  BufferLife& life() { return life_; }
  BufferStage stage() const { return life_.stage(); }

  void Add(const char* call, Command command);
  void AddScheduledHandler(Handler handler);
  void AddCompletedHandler(Handler handler);

  // Between encoders: a command of an event, which uses no memory.
  void AddEvent(const char* call, std::function<void()> run);

  // Whether the gpu may have it now. Remembers the bytes that the commands will read.
  bool Commit();

  // On the gpu: the scheduled handlers, the commands, the completed handlers. Ends the wait of
  // WaitUntilCompleted(), and gives up all memory. A command that throws breaks a rule, and the
  // others run. No command runs while the gpu has a fault (GpuFault).
  void Run();

  void WaitUntilCompleted() const { life_.WaitUntilCompleted(); }

  // The gpu's fault, or empty. Once WaitUntilCompleted() has returned.
  const std::string& error() const { return error_; }

 private:
  static void RunOne(const Command& command);

  OneThread turn_{"command buffer"};
  BufferLife life_;
  std::vector<Command> commands_;  // owned by the thread in turn, then by the gpu
  std::vector<std::unique_ptr<HostWrites>> watched_;
  std::vector<Handler> scheduled_;
  std::vector<Handler> completed_;
  std::string error_;  // written by the gpu before life_ is completed
};

}  // namespace mpsd::standin
