#include "server/bodies/grpc/named_model.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "proto/control.pb.h"
#include "proto/inference.pb.h"
#include "server/access/method_access.h"

namespace mpsd {
namespace {

TEST(NamedModel, IsTheTextOfTheField) {
  inference::ModelReadyRequest request;
  EXPECT_EQ(TextField("", 1), "");
  request.set_version("7");
  EXPECT_EQ(TextField(request.SerializeAsString(), 1), "");
  request.set_name("m");
  EXPECT_EQ(TextField(request.SerializeAsString(), 1), "m");
  EXPECT_EQ(TextField(request.SerializeAsString(), 2), "7");
  inference::RepositoryModelLoadRequest load;
  load.set_repository_name("r");
  load.set_model_name("m");
  (*load.mutable_parameters())["config"].set_string_param("{}");
  EXPECT_EQ(TextField(load.SerializeAsString(), 2), "m");
}

TEST(NamedModel, TheLastOfSeveralCounts) {
  inference::ModelReadyRequest first;
  inference::ModelReadyRequest second;
  first.set_name("allowed");
  second.set_name("other");
  EXPECT_EQ(TextField(first.SerializeAsString() + second.SerializeAsString(), 1), "other");
}

TEST(NamedModel, TheFieldOfEachMethodIsItsModelsName) {
  const google::protobuf::DescriptorPool& pool =
      *inference::ModelReadyRequest::descriptor()->file()->pool();
  ASSERT_NE(control::v1::ForgiveRequest::descriptor(), nullptr) << "its file is in the pool too";
  std::set<std::string> names;
  for (const MethodAccess& method : AllMethodAccess()) {
    const bool is_path = !absl::StrContains(method.name, '.');  // HTTP's
    if (is_path || method.scope != Scope::kModel) continue;
    const size_t slash = method.name.rfind('/');
    const std::string name(method.name.substr(slash + 1));
    const auto* const service =
        pool.FindServiceByName(std::string(method.name.substr(1, slash - 1)));
    ASSERT_NE(service, nullptr) << name;
    const google::protobuf::MethodDescriptor* const found = service->FindMethodByName(name);
    ASSERT_NE(found, nullptr) << name;
    if (method.model_field == 0) continue;
    const auto* const field =
        found->input_type()->FindFieldByNumber(static_cast<int>(method.model_field));
    ASSERT_NE(field, nullptr) << name;
    EXPECT_TRUE(field->name() == "name" || field->name() == "model_name") << name;
    names.insert(name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"Forgive", "ModelConfig", "ModelMetadata", "ModelReady",
                                          "ModelStatistics", "RepositoryModelLoad",
                                          "RepositoryModelUnload"}))
      << "the requests of the others are read elsewhere";
}

// Whatever the bytes are: where protobuf reads a request, both read the same name of it.
TEST(NamedModel, AgreesWithProtobufOnAnyBytes) {
  std::mt19937_64 random(17);
  const std::string pieces[] = {
      "\x0a\x01"
      "m",
      "\x0a\x02"
      "ab",
      "\x12\x01"
      "7",
      "\x08\x05",
      "\x0d"
      "1234",
      "\x09"
      "12345678",
      "\x0b",
      "\x0c",
      "\x0a",
      "\x0a\x7f",
      std::string(1, '\0'),
      "\xff",
      "\x1b\x0a\x01z\x1c"};
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes;
    for (uint64_t left = random() % 5; left > 0; --left) {
      bytes += pieces[random() % std::size(pieces)];
    }
    inference::ModelReadyRequest request;
    if (!request.ParseFromString(bytes)) continue;
    const auto name = TextField(bytes, 1);
    ASSERT_TRUE(name.has_value()) << i;
    ASSERT_EQ(std::string(*name), request.name()) << i;
    ++read;
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace mpsd
