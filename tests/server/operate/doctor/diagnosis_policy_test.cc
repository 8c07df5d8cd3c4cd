#include "server/operate/doctor/diagnosis_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace mpsd {
namespace {

using testing::HasSubstr;

Examination HealthyLinux() {
  Examination seen;
  seen.system = "Linux";
  seen.release = "6.1.0";
  seen.machine = "x86_64";
  seen.cores = 2;
  seen.memory_bytes = kFewestMemoryBytes;
  seen.page_bytes = 4096;
  seen.state_dir = "/run/mpsd";
  seen.addresses = {{"127.0.0.1:8001", absl::OkStatus()}};
  seen.needs = {.models = 1, .workers = 1, .connections = 1024};
  seen.descriptors = 4096;
  seen.locked_bytes = 8 << 20;
  seen.named_memory_bytes = kFewestNamedMemoryBytes;
  seen.worker.path = "/usr/bin/mpsd-worker";
  seen.worker.runtime = "torch 2.11.0";
  seen.worker.runtime_kind = "stock";
  seen.worker.devices = {"cpu"};
  return seen;
}

Examination HealthyMac() {
  Examination seen = HealthyLinux();
  seen.system = "Darwin";
  seen.release = "23.4.0";
  seen.machine = "arm64";
  seen.named_memory_bytes.reset();
  seen.worker.devices = {"mps", "cpu"};
  return seen;
}

Finding FindingAbout(const std::string& topic, const Examination& seen) {
  for (const Finding& finding : Diagnose(seen)) {
    if (finding.topic == topic) return finding;
  }
  ADD_FAILURE() << "no finding about " << topic;
  return {};
}

// Expects the verdict about one topic, and that all others are OK.
void ExpectOnly(Verdict verdict, const std::string& topic, const Examination& seen) {
  for (const Finding& finding : Diagnose(seen)) {
    EXPECT_EQ(finding.verdict, finding.topic == topic ? verdict : Verdict::kOk) << finding.topic;
  }
  EXPECT_NE(FindingAbout(topic, seen).remedy, "");
}

TEST(Diagnosis, AHostThatHasEverythingIsWell) {
  for (const Examination& seen : {HealthyLinux(), HealthyMac()}) {
    const std::vector<Finding> findings = Diagnose(seen);
    EXPECT_EQ(WorstOf(findings), Verdict::kOk);
    for (const Finding& finding : findings) EXPECT_EQ(finding.remedy, "") << finding.topic;
  }
}

TEST(Diagnosis, EachTopicStandsOnce) {
  Examination seen = HealthyLinux();
  seen.addresses.push_back({"unix:/run/mpsd/mpsd.sock", absl::OkStatus()});
  std::vector<std::string> topics;
  for (const Finding& finding : Diagnose(seen)) topics.push_back(finding.topic);
  std::sort(topics.begin(), topics.end());
  EXPECT_EQ(std::adjacent_find(topics.begin(), topics.end()), topics.end());
}

TEST(Diagnosis, AMacOlderThan14Point4Fails) {
  Examination seen = HealthyMac();
  for (const char* release : {"22.6.0", "23.3.0"}) {
    seen.release = release;
    ExpectOnly(Verdict::kFail, "host", seen);
  }
  for (const char* release : {"23.4.0", "24.0.0", "unknown"}) {
    seen.release = release;
    EXPECT_EQ(FindingAbout("host", seen).verdict, Verdict::kOk) << release;
  }
  Examination linux_host = HealthyLinux();
  linux_host.release = "5.10.0";
  EXPECT_EQ(FindingAbout("host", linux_host).verdict, Verdict::kOk);
}

TEST(Diagnosis, AMacOfIntelsIsAWarning) {
  Examination seen = HealthyMac();
  seen.machine = "x86_64";
  ExpectOnly(Verdict::kWarn, "host", seen);
}

TEST(Diagnosis, LittleMemoryIsAWarning) {
  Examination seen = HealthyLinux();
  seen.memory_bytes = kFewestMemoryBytes - 1;
  ExpectOnly(Verdict::kWarn, "memory", seen);
}

TEST(Diagnosis, AConfigWithAMistakeFails) {
  Examination seen = HealthyLinux();
  seen.config = absl::InvalidArgumentError("mpsd.json:3: unknown key");
  ExpectOnly(Verdict::kFail, "config", seen);
  EXPECT_THAT(FindingAbout("config", seen).seen, HasSubstr("mpsd.json:3"));
  seen.config = absl::NotFoundError("config: there is no file '\x1b[1m'");
  EXPECT_EQ(FindingAbout("config", seen).seen, "there is no file '\\033[1m'");
}

TEST(Diagnosis, TooFewDescriptorsFailAndFewWarn) {
  Examination seen = HealthyLinux();
  seen.descriptors = seen.needs.InAll() - 1;
  ExpectOnly(Verdict::kWarn, "descriptors", seen);
  seen.descriptors = seen.needs.ToServe();
  ExpectOnly(Verdict::kFail, "descriptors", seen);
}

TEST(Diagnosis, ASmallFolderOfNamedMemoryIsAWarning) {
  Examination seen = HealthyLinux();
  seen.named_memory_bytes = 64 << 20;
  ExpectOnly(Verdict::kWarn, "shm size", seen);
}

TEST(Diagnosis, MemoryThatAReaderCanWriteFails) {
  Examination seen = HealthyMac();
  seen.shared_memory = absl::FailedPreconditionError("a reader can write");
  ExpectOnly(Verdict::kFail, "shared memory", seen);
}

TEST(Diagnosis, SocketsThatDoNotTellTheirUserFail) {
  Examination seen = HealthyMac();
  seen.sockets = absl::InternalError("no user");
  ExpectOnly(Verdict::kFail, "sockets", seen);
}

TEST(Diagnosis, AStateFolderOfOthersFails) {
  Examination seen = HealthyLinux();
  seen.state_dir_usable = absl::FailedPreconditionError("other users may write to it");
  ExpectOnly(Verdict::kFail, "state_dir", seen);
}

// It may be the daemon itself that has them.
TEST(Diagnosis, AnAddressThatIsTakenIsAWarning) {
  Examination seen = HealthyLinux();
  seen.addresses[0].free = absl::UnavailableError("Address already in use");
  ExpectOnly(Verdict::kWarn, "address 127.0.0.1:8001", seen);
}

TEST(Diagnosis, WithoutAWorkerNothingOfDevicesIsKnown) {
  Examination seen = HealthyLinux();
  seen.worker.answered = absl::NotFoundError("no such file");
  EXPECT_EQ(FindingAbout("worker", seen).verdict, Verdict::kFail);
  EXPECT_THAT(FindingAbout("worker", seen).remedy, HasSubstr("/usr/bin/mpsd-worker"));
  EXPECT_EQ(FindingAbout("devices", seen).verdict, Verdict::kWarn);
}

TEST(Diagnosis, ADeviceThatIsPassedOverIsAWarningWithItsReason) {
  Examination seen = HealthyLinux();
  seen.worker.passed_over = "cuda: libcudnn.so.9 is not there\n";
  ExpectOnly(Verdict::kWarn, "devices", seen);
  EXPECT_THAT(FindingAbout("devices", seen).seen, HasSubstr("libcudnn.so.9 is not there\\n"));
}

TEST(Diagnosis, AMacWithoutItsGpuIsAWarning) {
  Examination seen = HealthyMac();
  seen.worker.devices = {"cpu"};
  ExpectOnly(Verdict::kWarn, "devices", seen);
}

TEST(Diagnosis, AHostWithoutASandboxFailsOnlyWhereItIsRequired) {
  Examination seen = HealthyMac();
  seen.worker.sandboxed = absl::FailedPreconditionError("there is no sandbox");
  ExpectOnly(Verdict::kWarn, "sandbox", seen);
  seen.sandbox = SandboxLevel::kStrict;
  ExpectOnly(Verdict::kFail, "sandbox", seen);
}

TEST(Diagnosis, ASandboxThatIsSwitchedOffIsAWarning) {
  Examination seen = HealthyLinux();
  seen.sandbox = SandboxLevel::kOff;
  ExpectOnly(Verdict::kWarn, "sandbox", seen);
}

TEST(Diagnosis, OnAMacTheChecklistStandsAmongWhatWasNotTried) {
  EXPECT_THAT(NotTried(HealthyMac()), testing::Contains(HasSubstr("--mac-checklist")));
  EXPECT_THAT(NotTried(HealthyLinux()), Not(testing::Contains(HasSubstr("--mac-checklist"))));
}

TEST(Diagnosis, TheWorstFindingCounts) {
  EXPECT_EQ(WorstOf({}), Verdict::kOk);
  const Finding ok{Verdict::kOk, "a", "", ""};
  const Finding warn{Verdict::kWarn, "b", "", ""};
  const Finding fail{Verdict::kFail, "c", "", ""};
  EXPECT_EQ(WorstOf({warn, fail, ok}), Verdict::kFail);
  EXPECT_EQ(WorstOf({ok, warn}), Verdict::kWarn);
}

}  // namespace
}  // namespace mpsd
