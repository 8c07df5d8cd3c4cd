// The lane's end in a process of its own: `ring_peer LOOKS`, with the control socket as descriptor
// 3. Gets mailbox, worker segment and bell, serves hops until it is told to stop, and exits with 0.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "proto/base/platform.h"
#include "proto/shm/segment.h"
#include "tests/shm/hop_ends.h"

namespace mpsd {
namespace {

constexpr int kControlFd = 3;

int Refuse(const char* why) {
  std::fprintf(stderr, "ring_peer: %s\n", why);
  return 1;
}

int Serve(uint32_t looks) {
  char byte = 0;
  std::vector<UniqueFd> fds;
  const auto got = platform::ReceiveWithFds(kControlFd, absl::MakeSpan(&byte, 1), &fds);
  if (!got.ok() || *got != 1 || fds.size() != 3) return Refuse("not three descriptors");

  const uint64_t page = platform::PageBytes();
  const uint64_t mailbox_bytes = MailboxBytes(1, page);
  const uint64_t worker_bytes = OutputAreaOffset(1, page);
  if (platform::MapSharedMemory(fds[0].get(), mailbox_bytes, /*writable=*/true).ok()) {
    return Refuse("the mailbox can be mapped writable");
  }
  for (const int i : {0, 1}) {
    if (ftruncate(fds[i].get(), 0) == 0) return Refuse("a segment can be truncated");
  }
  const auto mailbox = MappedSegment::Map(std::move(fds[0]), mailbox_bytes, /*writable=*/false);
  const auto worker = MappedSegment::Map(std::move(fds[1]), worker_bytes, /*writable=*/true);
  if (!mailbox.ok() || !worker.ok()) return Refuse("the segments cannot be mapped");
  const auto& header = *reinterpret_cast<const SegmentHeader*>(mailbox->data());
  if (!CheckHeader(header, SegmentKind::kMailbox, mailbox_bytes).ok()) {
    return Refuse("the mailbox is of another build");
  }
  WriteHeader(reinterpret_cast<SegmentHeader*>(worker->data()), SegmentKind::kWorker, worker_bytes,
              header.epoch);

  LaneHops lane(reinterpret_cast<const MailboxPage*>(mailbox->data() + sizeof(SegmentHeader)),
                reinterpret_cast<const LaneMailbox*>(mailbox->data() + kLaneAreaOffset),
                reinterpret_cast<LaneReport*>(worker->data() + kLaneAreaOffset), fds[2].get(),
                [looks] { return looks; });
  lane.Serve();
  return 0;
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) {
  mpsd::platform::DieWithParent();
  if (argc != 2) return mpsd::Refuse("usage: ring_peer LOOKS");
  return mpsd::Serve(static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)));
}
