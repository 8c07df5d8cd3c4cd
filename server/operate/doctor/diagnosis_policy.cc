#include "server/operate/doctor/diagnosis_policy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/units.h"

namespace mpsd {
namespace {

// The first macOS that can wait for a word of shared memory: 14.4, kernel 23.4.
constexpr std::pair<int, int> kFirstDarwin = {23, 4};

// One line for a person: what a terminal could take amiss is escaped, and quotes are not.
std::string Told(const absl::Status& status) {
  return absl::StrReplaceAll(absl::Utf8SafeCEscape(std::string(status.message())),
                             {{"\\'", "'"}, {"\\\"", "\""}});
}

bool IsMac(const Examination& seen) { return seen.system == "Darwin"; }

bool IsTooOld(const std::string& release) {
  const std::vector<std::string> parts = absl::StrSplit(release, '.');
  std::pair<int, int> version = {0, 0};
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &version.first) ||
      !absl::SimpleAtoi(parts[1], &version.second)) {
    return false;  // no version of Darwin
  }
  return version < kFirstDarwin;
}

Finding Host(const Examination& seen) {
  Finding finding{Verdict::kOk, "host",
                  absl::StrCat(seen.system, " ", seen.release, " ", seen.machine, ", ", seen.cores,
                               " cores, pages of ", BytesText(seen.page_bytes)),
                  ""};
  if (!IsMac(seen)) return finding;
  if (IsTooOld(seen.release)) {
    finding.verdict = Verdict::kFail;
    finding.remedy = "mpsd needs macOS 14.4 or later";
  } else if (seen.machine != "arm64") {
    finding.verdict = Verdict::kWarn;
    finding.remedy = "there is no libtorch with mps for Intel's Macs; models run on the cpu";
  }
  return finding;
}

Finding Memory(const Examination& seen) {
  Finding finding{Verdict::kOk, "memory",
                  absl::StrCat(BytesText(seen.memory_bytes), " left for this process"), ""};
  if (seen.memory_bytes >= kFewestMemoryBytes) return finding;
  finding.verdict = Verdict::kWarn;
  finding.remedy = absl::StrCat(
      "end other programs, or raise the cgroup's limit: a daemon with one "
      "worker takes about ",
      BytesText(kFewestMemoryBytes));
  return finding;
}

Finding ConfigFile(const Examination& seen) {
  if (!seen.config.ok()) {
    return {Verdict::kFail, "config", std::string(absl::StripPrefix(Told(seen.config), "config: ")),
            "mend the file; `mpsd check FILE` reads it"};
  }
  if (!seen.config_file.empty()) return {Verdict::kOk, "config", seen.config_file, ""};
  return {Verdict::kOk, "config", "none found; what follows is about the defaults", ""};
}

Finding Descriptors(const Examination& seen) {
  const absl::Status enough = CheckDescriptors(seen.needs, seen.descriptors);
  const std::string warning = DescriptorWarning(seen.needs, seen.descriptors);
  const std::string remedy = "raise the hard limit: `ulimit -Hn`, LimitNOFILE= of a unit";
  if (!enough.ok()) return {Verdict::kFail, "descriptors", Told(enough), remedy};
  if (!warning.empty()) return {Verdict::kWarn, "descriptors", warning, remedy};
  return {Verdict::kOk, "descriptors",
          absl::StrCat(seen.descriptors, " for a daemon, which needs about ", seen.needs.InAll()),
          ""};
}

Finding LockedMemory(const Examination& seen) {
  const std::string limit =
      seen.locked_bytes == UINT64_MAX ? "no limit" : BytesText(seen.locked_bytes);
  return {Verdict::kOk, "locked memory", absl::StrCat(limit, "; mpsd itself locks none"), ""};
}

Finding NamedMemory(const Examination& seen) {
  if (!seen.named_memory_bytes.has_value()) {
    return {Verdict::kOk, "shm size", "not bounded by a file system", ""};
  }
  Finding finding{Verdict::kOk, "shm size",
                  absl::StrCat(BytesText(*seen.named_memory_bytes), " free in /dev/shm"), ""};
  if (*seen.named_memory_bytes < kFewestNamedMemoryBytes) {
    finding.verdict = Verdict::kWarn;
    finding.remedy =
        "regions that clients register lie there: remove what is left over, or give a container "
        "more (--shm-size)";
  }
  return finding;
}

Finding SharedMemory(const Examination& seen) {
  if (seen.shared_memory.ok()) {
    return {Verdict::kOk, "shared memory", "made; a reader cannot write to it", ""};
  }
  return {Verdict::kFail, "shared memory", Told(seen.shared_memory),
          "send this report: without it a worker cannot be trusted with requests"};
}

Finding Sockets(const Examination& seen) {
  if (seen.sockets.ok()) {
    return {Verdict::kOk, "sockets", "made; the user at the other end is told", ""};
  }
  return {Verdict::kFail, "sockets", Told(seen.sockets),
          "send this report: the control socket would refuse all"};
}

Finding StateFolder(const Examination& seen) {
  if (seen.state_dir_usable.ok()) return {Verdict::kOk, "state_dir", seen.state_dir, ""};
  return {Verdict::kFail, "state_dir", Told(seen.state_dir_usable),
          "mend the folder, or name another one as state_dir"};
}

Finding Address(const ExaminedAddress& address) {
  const std::string topic = absl::StrCat("address ", address.address);
  if (address.free.ok()) return {Verdict::kOk, topic, "free", ""};
  return {Verdict::kWarn, topic, Told(address.free),
          "well if it is mpsd that serves there (`mpsd ps`); else listen elsewhere"};
}

Finding Worker(const ExaminedWorker& worker) {
  if (!worker.answered.ok()) {
    return {Verdict::kFail, "worker", Told(worker.answered),
            absl::StrCat("build or install ", worker.path, " and its libtorch")};
  }
  return {Verdict::kOk, "worker",
          absl::Utf8SafeCEscape(
              absl::StrCat(worker.path, " with ", worker.runtime, " (", worker.runtime_kind, ")")),
          ""};
}

Finding Devices(const Examination& seen) {
  const std::vector<std::string>& devices = seen.worker.devices;
  Finding finding{Verdict::kOk, "devices", absl::Utf8SafeCEscape(absl::StrJoin(devices, ", ")), ""};
  if (!seen.worker.answered.ok()) {
    return {Verdict::kWarn, "devices", "unknown, since the worker does not answer", ""};
  }
  if (!seen.worker.passed_over.empty()) {
    finding.verdict = Verdict::kWarn;
    absl::StrAppend(&finding.seen,
                    "; passed over: ", absl::Utf8SafeCEscape(seen.worker.passed_over));
    finding.remedy = "install what is missing, or set the models' device to cpu";
  } else if (IsMac(seen) && std::find(devices.begin(), devices.end(), "mps") == devices.end()) {
    finding.verdict = Verdict::kWarn;
    finding.remedy = "this libtorch sees no gpu of Apple's; models run on the cpu";
  }
  return finding;
}

Finding Confinement(const Examination& seen) {
  const bool off = seen.sandbox == SandboxLevel::kOff;
  if (seen.worker.sandboxed.ok() && !off) {
    return {Verdict::kOk, "sandbox", "a worker can give up all rights of the level strict", ""};
  }
  if (off) {
    return {Verdict::kWarn, "sandbox", "the config switches it off",
            "a model's file is code: serve trusted files alone"};
  }
  const bool strict = seen.sandbox == SandboxLevel::kStrict;
  return {strict ? Verdict::kFail : Verdict::kWarn, "sandbox", Told(seen.worker.sandboxed),
          strict ? "no worker starts: set sandbox to basic, or mend the host"
                 : "workers go on with less: serve trusted files alone"};
}

}  // namespace

std::vector<Finding> Diagnose(const Examination& seen) {
  std::vector<Finding> findings = {Host(seen),         Memory(seen),       ConfigFile(seen),
                                   Descriptors(seen),  LockedMemory(seen), NamedMemory(seen),
                                   SharedMemory(seen), Sockets(seen),      StateFolder(seen)};
  for (const ExaminedAddress& address : seen.addresses) findings.push_back(Address(address));
  findings.push_back(Worker(seen.worker));
  findings.push_back(Devices(seen));
  findings.push_back(Confinement(seen));
  return findings;
}

std::vector<std::string> NotTried(const Examination& seen) {
  std::vector<std::string> texts = {
      "whether a device computes: `mpsd inspect FILE --device DEVICE` loads a model there",
      "whether other hosts reach the addresses: call from there"};
  if (IsMac(seen)) {
    texts.push_back(
        "sleep, launchd, Metal's errors: `mpsd doctor --mac-checklist` has the commands");
  }
  return texts;
}

Verdict WorstOf(const std::vector<Finding>& findings) {
  Verdict worst = Verdict::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

}  // namespace mpsd
