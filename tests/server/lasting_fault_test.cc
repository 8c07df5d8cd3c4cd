#include "server/lasting_fault.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mpsd {
namespace {

class WorkersInStates final : public WorkerStatusSource {
 public:
  std::vector<WorkerInfo> Workers(const ServedModel& model) const override {
    std::vector<WorkerInfo> infos;
    for (const std::string& state : states.at(model.name)) {
      WorkerInfo info;
      info.state = state;
      info.last_words = "it is no model";
      infos.push_back(std::move(info));
    }
    return infos;
  }
  std::string Circuit(const ServedModel&) const override { return ""; }
  std::vector<OtherGeneration> Others(const ServedModel&) const override { return {}; }

  std::map<std::string, std::vector<std::string>> states;
};

class LastingFaultTest : public testing::Test {
 protected:
  void Add(const std::string& name, std::vector<std::string> states, bool ready = false) {
    auto model = std::make_shared<ServedModel>();
    model->name = name;
    model->ready = ready;
    models_.Publish(model);
    workers_.states[name] = std::move(states);
  }

  absl::Status Fault() const { return LastingFault(models_, workers_); }

  ModelDirectory models_;
  WorkersInStates workers_;
};

const absl::Status kNever = absl::FailedPreconditionError("model 'bad': it is no model");

TEST_F(LastingFaultTest, AModelWhoseWorkersHaveAllFailedNeverServes) {
  Add("good", {"serving"}, /*ready=*/true);
  EXPECT_EQ(Fault(), absl::OkStatus());
  Add("bad", {"failed", "failed"});
  EXPECT_EQ(Fault(), kNever);
}

TEST_F(LastingFaultTest, OneThatMayStillServeHasNone) {
  Add("loads", {"loading", "loading"});
  Add("dies again", {"failed", "waiting to start"});
  Add("dies", {"waiting to start"});
  Add("serves", {"failed", "serving"}, /*ready=*/true);
  Add("has steps", {});
  EXPECT_EQ(Fault(), absl::OkStatus());
}

TEST_F(LastingFaultTest, WhileTheLastWorkerEndsItIsNotKnown) {
  Add("leaves", {"failed", "ending"});
  EXPECT_TRUE(absl::IsUnavailable(Fault()));
  for (const char* state : {"loading", "warming up"}) {
    workers_.states["leaves"] = {state, "failed"};
    EXPECT_TRUE(absl::IsUnavailable(Fault())) << "the first one reads the same file";
  }
  Add("bad", {"failed"});
  EXPECT_EQ(Fault(), kNever);
}

TEST_F(LastingFaultTest, OneThatIsRefusedNeverServes) {
  models_.SetRefused({{"asked", "1", "only a client wants it", /*wanted=*/false}});
  EXPECT_EQ(Fault(), absl::OkStatus());
  for (const char* reason : {"it is no model", "model 'bad': it is no model"}) {
    models_.SetRefused({{"bad", "1", reason}});
    EXPECT_EQ(Fault(), kNever) << "the model is named once";
  }
}

}  // namespace
}  // namespace mpsd
