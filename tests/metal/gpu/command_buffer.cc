#include "tests/metal/gpu/command_buffer.h"

#include <exception>
#include <utility>

#include "tests/metal/gpu/gpu_fault.h"

namespace mpsd::standin {

void CommandBuffer::Add(const char* call, Command command) {
  const OneThread::Turn turn(turn_);
  if (!life_.AllowsCommands(call)) return;
  for (const auto* ranges : {&command.reads, &command.writes}) {
    for (const GpuRange& range : *ranges) {
      if (!range.IsInside(call)) return;
    }
  }
  commands_.push_back(std::move(command));
}

void CommandBuffer::AddScheduledHandler(Handler handler) {
  const OneThread::Turn turn(turn_);
  if (life_.AllowsHandler("addScheduledHandler")) scheduled_.push_back(std::move(handler));
}

void CommandBuffer::AddCompletedHandler(Handler handler) {
  const OneThread::Turn turn(turn_);
  if (life_.AllowsHandler("addCompletedHandler")) completed_.push_back(std::move(handler));
}

void CommandBuffer::AddEvent(const char* call, std::function<void()> run) {
  const OneThread::Turn turn(turn_);
  if (life_.AllowsEvent(call)) commands_.push_back(Command{std::move(run), {}, {}});
}

bool CommandBuffer::Commit() {
  const OneThread::Turn turn(turn_);
  if (!life_.Commits()) return false;
  for (const Command& command : commands_) {
    for (const GpuRange& range : command.reads) {
      watched_.push_back(
          std::make_unique<HostWrites>(range.memory->writes(), range.data(), range.bytes));
    }
    for (const GpuRange& range : command.writes) ++range.memory->writes().committed;
  }
  return true;
}

void CommandBuffer::RunOne(const Command& command) {
  try {
    command.run();
  } catch (const std::exception& error) {
    Broken(kCommandFails, error.what());
  }
}

void CommandBuffer::Run() {
  for (const Handler& handler : scheduled_) handler();
  error_ = GpuFault::OfProcess().Text();
  size_t watched = 0;
  for (const Command& command : commands_) {
    for (size_t i = 0; i < command.reads.size(); ++i) watched_[watched++]->CheckBeforeRead();
    if (error_.empty()) RunOne(command);
    for (const GpuRange& range : command.writes) ++range.memory->writes().done;
  }
  // A handler may commit further work, and asks for memory that these commands hold.
  watched_.clear();
  commands_.clear();
  for (const Handler& handler : completed_) handler();
  scheduled_.clear();
  completed_.clear();
  life_.Completes();
}

}  // namespace mpsd::standin
