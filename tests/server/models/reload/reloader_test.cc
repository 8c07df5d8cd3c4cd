#include "server/models/reload/reloader.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "proto/base/limits.h"
#include "server/request/retry_info.h"
#include "tests/server/models/reload/fake_generation_maker.h"

namespace mpsd {
namespace {

class ReloaderTest : public testing::Test {
 protected:
  ReloaderTest() {
    first_.models = {AModel("a"), AModel("b")};
    next_ = first_;
  }

  ~ReloaderTest() override {
    if (reloader_.has_value()) reloader_->Stop();
    std::filesystem::remove_all(repository_);
  }

  // For the first version of a model in the repository.
  void WriteConfig(const std::string& model, const std::string& text) {
    if (repository_.empty()) {
      std::string pattern = testing::TempDir() + "mpsd_reloader_XXXXXX";
      repository_ = std::filesystem::canonical(mkdtemp(pattern.data())).string();
      first_.model_repository = next_->model_repository = repository_;
    }
    std::filesystem::create_directories(repository_ + "/" + model + "/1");
    std::ofstream(repository_ + "/" + model + "/config.pbtxt") << text;
  }

  // "version state reason" of a model's versions; empty: it is not listed.
  std::string Listed(const std::string& name) {
    std::string text;
    for (const ModelListing& listing : reloader_->List()) {
      if (listing.name != name) continue;
      absl::StrAppend(&text, text.empty() ? "" : "; ", listing.version, " ", listing.state, " ",
                      listing.reason);
    }
    return text;
  }

  // Serves `first_`, and does no job yet.
  void Start(ModelControlMode mode = ModelControlMode::kNone) {
    first_.model_control = next_->model_control = mode;
    reloader_.emplace(
        ReloaderParts{&maker_, &models_, &metrics_, &logger_, [this] { return next_; },
                      [this](const Config&) { ++applied_; }, &puller_},
        first_);
    reloader_->Deploy();
    for (const auto& model : models_.models()) model->ready = true;
    reloader_->Start();
  }

  void Begin(ModelControlMode mode = ModelControlMode::kNone) {
    Start(mode);
    reloader_->Begin();
  }

  // Waits for the end of what `begin` begins.
  template <typename Begin>
  static absl::Status EndOf(const Begin& begin) {
    absl::Notification ended;
    absl::Status result;
    begin([&](const absl::Status& status) {
      result = status;
      ended.Notify();
    });
    ended.WaitForNotification();
    return result;
  }

  absl::Status Reload() {
    return EndOf([this](auto done) { reloader_->Reload(std::move(done)); });
  }
  absl::Status Load(const std::string& name) {
    return EndOf([&](auto done) { reloader_->Load(name, "", std::move(done)); });
  }
  absl::Status Unload(const std::string& name) {
    return EndOf([&](auto done) { reloader_->Unload(name, std::move(done)); });
  }

  std::string repository_;
  Config first_;
  absl::StatusOr<Config> next_;
  int applied_ = 0;
  ServerMetrics metrics_;
  Logger logger_{*LogFile::Open("/dev/null"), LogLevel::kInfo, Clock::Real(), &metrics_};
  HubPuller puller_{&metrics_, &logger_};  // fetches nothing: it is not started
  FakeGenerationMaker maker_;
  ModelDirectory models_;
  std::optional<Reloader> reloader_;
};

TEST_F(ReloaderTest, AReloadTouchesOnlyWhatDiffers) {
  Begin();
  const std::shared_ptr<ServedModel> a = models_.Find("a");
  const std::shared_ptr<ServedModel> b = models_.Find("b");
  next_->models = {AModel("a"), With(AModel("b"), "k", "v"), AModel("c")};
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(models_.Find("a"), a);
  EXPECT_NE(models_.Find("b"), b);
  EXPECT_NE(models_.Find("c"), nullptr);
  next_->models = {AModel("a")};
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(models_.Find("a"), a);
  EXPECT_EQ(models_.models().size(), 1u);
  EXPECT_EQ(applied_, 2);
  EXPECT_EQ(metrics_.config_reload_ok, 1);
  EXPECT_GT(metrics_.config_reload_time_s, 0);
  EXPECT_TRUE(reloader_->LastReload().ok);
  EXPECT_EQ(reloader_->LastReload().text, "0 replaced, 0 added, 2 removed, 1 kept");
}

TEST_F(ReloaderTest, AModelAtAHubIsAwaitedWhileItsKnownRevisionServes) {
  Begin();
  const std::shared_ptr<ServedModel> a = models_.Find("a");
  ModelConfig at_hub = AModel("a");
  at_hub.path = "";
  at_hub.hub = "ORG/NAME@2";
  next_->models = {at_hub, AModel("b")};
  next_->models.push_back(at_hub);
  next_->models.back().name = "c";
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(models_.Find("a"), a);
  EXPECT_EQ(models_.Find("c"), nullptr);
  EXPECT_TRUE(models_.IsFetched("c"));
  EXPECT_FALSE(models_.IsReady());
  EXPECT_EQ(Listed("a"), "1 READY ");
  EXPECT_EQ(Listed("c"), "1 LOADING waits for ORG/NAME@2");
  EXPECT_EQ(FindServed(models_, "c", "").status().code(), absl::StatusCode::kUnavailable);
  next_->models = {AModel("a"), AModel("b")};
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(Listed("c"), "");
  EXPECT_FALSE(models_.Knows("c"));
}

TEST_F(ReloaderTest, AClientCannotLoadWhatIsNotHereYet) {
  first_.models[0].path = "";
  first_.models[0].hub = "ORG/NAME";
  next_ = first_;
  Begin(ModelControlMode::kExplicit);
  EXPECT_EQ(Load("a").code(), absl::StatusCode::kUnavailable);
}

TEST_F(ReloaderTest, JobsWaitForTheBeginning) {
  Start();
  absl::Notification ended;
  reloader_->Reload([&](const absl::Status&) { ended.Notify(); });
  EXPECT_FALSE(ended.WaitForNotificationWithTimeout(absl::Milliseconds(100)));
  reloader_->Begin();
  ended.WaitForNotification();
  EXPECT_EQ(applied_, 1);
}

TEST_F(ReloaderTest, AModelOfStepsComesAfterThoseThatItRuns) {
  Begin();
  ModelConfig whole = AModel("w");
  whole.steps = {{"new", "", {{"x", "x"}}, {{"y", "y"}}}};
  next_->models = {whole, AModel("new")};
  EXPECT_TRUE(Reload().ok());
  std::vector<std::string> names;
  for (const auto& model : models_.models()) names.push_back(model->name);
  EXPECT_EQ(names, (std::vector<std::string>{"new", "w"}));
}

TEST_F(ReloaderTest, AConfigThatCannotBeReadChangesNothing) {
  Begin();
  next_ = absl::InvalidArgumentError("c.json:3: models[0].nmae: unknown key");
  EXPECT_FALSE(Reload().ok());
  EXPECT_EQ(models_.models().size(), 2u);
  EXPECT_EQ(maker_.started().size(), 2u);
  EXPECT_EQ(applied_, 0);
  EXPECT_EQ(metrics_.config_reload_ok, 0);
  EXPECT_EQ(reloader_->LastReload().text, "c.json:3: models[0].nmae: unknown key");
  next_ = first_;
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(metrics_.config_reload_ok, 1) << "a good one makes it good again";
  EXPECT_EQ(metrics_.config_reloads, 2u);
  EXPECT_EQ(metrics_.failed_config_reloads, 1u);
}

TEST_F(ReloaderTest, AModelThatCannotBeLoadedKeepsNobodyElseBack) {
  Begin();
  const std::shared_ptr<ServedModel> a = models_.Find("a");
  next_->models = {With(AModel("a"), "fail", "it died"), AModel("b"), AModel("c")};
  EXPECT_EQ(Reload(), absl::FailedPreconditionError("load failed for model 'a': it died"));
  EXPECT_EQ(models_.Find("a"), a);
  EXPECT_NE(models_.Find("c"), nullptr);
  EXPECT_EQ(metrics_.config_reload_ok, 0);
  EXPECT_EQ(metrics_.model_load_failures, 1u);
  EXPECT_FALSE(Reload().ok()) << "the next reload tries it again";
  EXPECT_EQ(metrics_.model_load_failures, 2u);
}

TEST_F(ReloaderTest, AReloadTriesAModelAgainThatHasFailedForGood) {
  Begin();
  const std::shared_ptr<ServedModel> a = models_.Find("a");
  a->ready = false;
  maker_.SetFault("a", absl::InternalError("it died"));
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(models_.Find("a"), a) << "its workers start by themselves";
  maker_.SetFault("a", absl::FailedPreconditionError("it is no model"));
  EXPECT_TRUE(Reload().ok());
  EXPECT_NE(models_.Find("a"), a);
  EXPECT_EQ(maker_.retired(), std::vector<std::shared_ptr<ServedModel>>{a});
}

TEST_F(ReloaderTest, ANewModelThatCannotBeLoadedIsListedWithItsReason) {
  Begin();
  next_->models = {AModel("a"), AModel("b"), With(AModel("c", "2"), "fail", "it died")};
  EXPECT_FALSE(Reload().ok());
  EXPECT_EQ(Listed("c"), "2 UNAVAILABLE it died");
  EXPECT_EQ(Listed("a"), "1 READY ");
  next_->models = {AModel("a"), AModel("b"), AModel("c", "2")};
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(Listed("c"), "2 READY ");
  next_->models = {AModel("a"), AModel("b")};
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(Listed("c"), "") << "nobody wants it any more";
}

TEST_F(ReloaderTest, AVersionThatCannotBeLoadedIsListedBesideThoseThatServe) {
  Begin();
  next_->models = {AModel("a"), With(AModel("a", "2"), "fail", "it died"), AModel("a", "3")};
  EXPECT_FALSE(Reload().ok());
  EXPECT_EQ(Listed("a"), "1 READY ; 3 READY ; 2 UNAVAILABLE it died")
      << "another version's success is not its own";
  next_->models = {AModel("a"), AModel("a", "2"), AModel("a", "3")};
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(Listed("a"), "1 READY ; 2 READY ; 3 READY ");
}

TEST_F(ReloaderTest, AModelOfTheRepositoryWithAFaultIsListedWithIt) {
  WriteConfig("broken", "nmae: 'x'");
  WriteConfig("bad name", "");
  Begin(ModelControlMode::kExplicit);
  EXPECT_EQ(Listed("broken").rfind(" UNAVAILABLE config.pbtxt: line 1: ", 0), 0u)
      << Listed("broken");
  EXPECT_EQ(reloader_->List().size(), 3u) << "what can be no model's name is none";
  WriteConfig("broken", "backend: 'identity'");
  EXPECT_FALSE(Load("broken").ok());
  EXPECT_EQ(Listed("broken"), " UNAVAILABLE an identity model must say its inputs");
  WriteConfig("broken", "backend: 'identity' input { name: 'x' data_type: TYPE_FP32 dims: 1 }");
  EXPECT_TRUE(Load("broken").ok());
  EXPECT_EQ(Listed("broken"), "1 READY ");
  WriteConfig("broken", "nmae: 'x'");
  EXPECT_FALSE(Reload().ok());
  EXPECT_EQ(Listed("broken"), "1 READY ") << "it serves as it did";
}

TEST_F(ReloaderTest, TheDaemonIsNotReadyWhileAModelOfTheRepositoryIsRefused) {
  WriteConfig("broken", "nmae: 'x'");
  Begin();
  models_.stage = ServingStage::kServing;
  ASSERT_EQ(models_.refused().size(), 1u);
  EXPECT_EQ(models_.refused()[0].name, "broken");
  EXPECT_EQ(models_.refused()[0].reason.rfind("config.pbtxt: line 1: ", 0), 0u);
  EXPECT_FALSE(models_.IsReady());
  WriteConfig("broken", "backend: 'identity' input { name: 'x' data_type: TYPE_FP32 dims: 1 }");
  EXPECT_TRUE(Reload().ok());
  EXPECT_TRUE(models_.refused().empty());
  EXPECT_TRUE(models_.IsReady());
  next_->models.push_back(With(AModel("c"), "fail", "it throws"));
  EXPECT_FALSE(Reload().ok());
  ASSERT_EQ(models_.refused().size(), 1u);
  EXPECT_EQ(models_.refused()[0].reason, "it throws");
  EXPECT_FALSE(models_.IsReady());
}

TEST_F(ReloaderTest, WhatOnlyClientsLoadDoesNotCountForReadiness) {
  WriteConfig("broken", "nmae: 'x'");
  Begin(ModelControlMode::kExplicit);
  models_.stage = ServingStage::kServing;
  EXPECT_TRUE(models_.IsReady());
  ASSERT_EQ(models_.refused().size(), 1u);
  EXPECT_FALSE(models_.refused()[0].wanted);
  EXPECT_TRUE(Unload("a").ok());
  EXPECT_EQ(models_.refused().size(), 1u) << "what was unloaded is not refused";
}

TEST_F(ReloaderTest, AFaultyModelIsGoneWithItsFolder) {
  WriteConfig("broken", "nmae: 'x'");
  Begin(ModelControlMode::kExplicit);
  EXPECT_FALSE(Load("broken").ok());
  EXPECT_NE(Listed("broken"), "");
  std::filesystem::remove_all(repository_ + "/broken");
  EXPECT_EQ(Listed("broken"), "");
}

TEST_F(ReloaderTest, LoadsOfDifferentModelsRunSideBySide) {
  first_.models = {With(AModel("a"), "hang", ""), AModel("b")};
  next_ = first_;
  Begin(ModelControlMode::kExplicit);
  EXPECT_TRUE(Unload("a").ok());
  EXPECT_TRUE(Unload("b").ok());
  absl::Notification ended;
  reloader_->Load("a", "", [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    ended.Notify();
  });
  maker_.WaitUntilOneHangs();
  EXPECT_TRUE(Load("b").ok()) << "a loads all the while";
  EXPECT_FALSE(ended.HasBeenNotified());
  maker_.Release();
  ended.WaitForNotification();
  EXPECT_EQ(Listed("a"), "1 READY ");
}

TEST_F(ReloaderTest, LoadingIsNotAllowedUnlessTheConfigSaysSo) {
  Begin();
  const absl::Status refusal =
      absl::UnavailableError("explicit model load / unload is not allowed");
  EXPECT_EQ(Load("a"), refusal);
  EXPECT_EQ(Unload("a"), refusal);
  EXPECT_NE(models_.Find("a"), nullptr);
}

TEST_F(ReloaderTest, UnloadAndLoad) {
  Begin(ModelControlMode::kExplicit);
  EXPECT_TRUE(Unload("a").ok());
  EXPECT_EQ(models_.Find("a"), nullptr);
  EXPECT_TRUE(Unload("a").ok()) << "it is unloaded, as was asked for";
  EXPECT_TRUE(Load("a").ok());
  EXPECT_NE(models_.Find("a"), nullptr);
}

TEST_F(ReloaderTest, LoadingWhatServesAlreadyDoesNothing) {
  Begin(ModelControlMode::kExplicit);
  const std::shared_ptr<ServedModel> a = models_.Find("a");
  EXPECT_TRUE(Load("a").ok());
  EXPECT_EQ(models_.Find("a"), a);
}

TEST_F(ReloaderTest, UnknownModelsAreNeitherLoadedNorUnloaded) {
  Begin(ModelControlMode::kExplicit);
  EXPECT_TRUE(absl::IsNotFound(Load("nope")));
  EXPECT_TRUE(absl::IsNotFound(Unload("nope")));
}

TEST_F(ReloaderTest, WhatAClientUnloadedStaysSoThroughAReload) {
  Begin(ModelControlMode::kExplicit);
  EXPECT_TRUE(Unload("a").ok());
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(models_.Find("a"), nullptr);
  next_->models = {With(AModel("a"), "k", "v"), AModel("b")};
  EXPECT_TRUE(Reload().ok());
  EXPECT_EQ(models_.Find("a"), nullptr);
  EXPECT_TRUE(Load("a").ok());
  EXPECT_EQ(maker_.started().back().model.parameters.count("k"), 1u) << "the new config's";
}

TEST_F(ReloaderTest, JobsRunOneAfterTheOther) {
  Begin(ModelControlMode::kExplicit);
  next_->models = {With(AModel("a"), "hang", ""), AModel("b")};
  absl::Notification reloaded;
  reloader_->Reload([&](const absl::Status&) { reloaded.Notify(); });
  maker_.WaitUntilOneHangs();
  absl::Notification unloaded;
  reloader_->Unload("b", [&](const absl::Status&) { unloaded.Notify(); });
  EXPECT_NE(models_.Find("b"), nullptr) << "the unload waits in line";
  EXPECT_FALSE(reloaded.HasBeenNotified());
  maker_.Release();
  unloaded.WaitForNotification();
  reloaded.WaitForNotification();  // told by another thread, perhaps a moment later
  EXPECT_EQ(models_.Find("b"), nullptr);
}

TEST_F(ReloaderTest, AStopGivesTheRunningJobUpAndRefusesTheOthers) {
  Begin(ModelControlMode::kExplicit);
  const std::shared_ptr<ServedModel> a = models_.Find("a");
  next_->models = {With(AModel("a"), "hang", ""), AModel("b")};
  std::vector<absl::Status> ends;
  const auto note = [&](const absl::Status& status) { ends.push_back(status); };
  reloader_->Reload(note);
  maker_.WaitUntilOneHangs();
  reloader_->Unload("b", note);
  reloader_->Stop();
  reloader_->Unload("b", note);
  const absl::Status exiting = absl::UnavailableError("Server exiting");
  EXPECT_EQ(ends, (std::vector<absl::Status>{exiting, exiting, exiting}));
  EXPECT_EQ(models_.Find("a"), a);
}

TEST_F(ReloaderTest, TheLineOfJobsIsBounded) {
  Begin(ModelControlMode::kExplicit);
  next_->models = {With(AModel("a"), "hang", ""), AModel("b")};
  reloader_->Reload([](const absl::Status&) {});
  maker_.WaitUntilOneHangs();
  std::atomic<size_t> refused = 0;
  for (size_t i = 0; i < kMaxReloadJobs + 2; ++i) {
    reloader_->Load("b", "", [&](const absl::Status& status) {
      refused += status == Busy("too many models are waiting to be loaded");
    });
  }
  EXPECT_EQ(refused, 2u);
  // A reload is not kept out by them.
  absl::Notification reloaded;
  absl::Status status = absl::UnknownError("it has not ended");
  reloader_->Reload([&](const absl::Status& end) {
    status = end;
    reloaded.Notify();
  });
  maker_.Release();
  reloaded.WaitForNotification();
  reloader_->Stop();
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(applied_, 2);
}

TEST_F(ReloaderTest, AReloadThatWaitsIsTheOneForAllWhoAskMeanwhile) {
  Begin(ModelControlMode::kExplicit);
  next_->models = {With(AModel("a"), "hang", ""), AModel("b")};
  const auto nobody_waits = [](const absl::Status&) {};
  reloader_->Reload(nobody_waits);
  maker_.WaitUntilOneHangs();
  for (int i = 0; i < 3; ++i) reloader_->Reload(nobody_waits);
  maker_.Release();
  EXPECT_TRUE(Unload("b").ok()) << "the last in line";
  EXPECT_EQ(applied_, 2);
  EXPECT_TRUE(Reload().ok()) << "one that comes later is another";
  EXPECT_EQ(applied_, 3);
}

TEST_F(ReloaderTest, ModelsThatWereFetchedAreTakenTogether) {
  Begin(ModelControlMode::kExplicit);
  next_->models = {With(AModel("a"), "hang", ""), AModel("b")};
  const auto nobody_waits = [](const absl::Status&) {};
  reloader_->Reload(nobody_waits);
  maker_.WaitUntilOneHangs();
  std::atomic<int> taken = 0;
  for (size_t i = 0; i < kMaxReloadJobs; ++i) {
    reloader_->TakePulled([&taken](const absl::Status&) { ++taken; });
  }
  maker_.Release();
  EXPECT_TRUE(Unload("b").ok()) << "there is room for it";
  reloader_->Stop();
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(applied_, 1) << "the config is the one in force";
}

}  // namespace
}  // namespace mpsd
