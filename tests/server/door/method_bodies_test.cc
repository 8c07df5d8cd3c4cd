#include "server/door/method_bodies.h"

#include <gtest/gtest.h>

#include "proto/control.pb.h"
#include "proto/inference.pb.h"
#include "server/access/method_access.h"

namespace mpsd {
namespace {

Route Of(RouteKind kind) {
  Route route;
  route.kind = kind;
  route.model = "m";
  route.version = "2";
  return route;
}

TEST(MethodBodies, APathNamesModelAndVersion) {
  inference::ModelMetadataRequest request;
  ASSERT_TRUE(request.ParseFromString(*MethodRequestOf(Of(RouteKind::kModelMetadata), "")));
  EXPECT_EQ(request.name(), "m");
  EXPECT_EQ(request.version(), "2");
}

TEST(MethodBodies, AnIndexMayWantTheReadyAlone) {
  inference::RepositoryIndexRequest request;
  ASSERT_TRUE(request.ParseFromString(
      *MethodRequestOf(Of(RouteKind::kRepositoryIndex), "{\"ready\": true}")));
  EXPECT_TRUE(request.ready());
}

TEST(MethodBodies, APathsModelIsTheOneThatIsLoaded) {
  inference::RepositoryModelLoadRequest request;
  ASSERT_TRUE(request.ParseFromString(
      *MethodRequestOf(Of(RouteKind::kModelLoad), R"({"parameters": {"config": "{}"}})")));
  EXPECT_EQ(request.model_name(), "m");
  EXPECT_EQ(request.parameters().at("config").string_param(), "{}");
}

TEST(MethodBodies, APathsRegionIsTheOneThatIsRegistered) {
  Route route = Of(RouteKind::kSystemRegister);
  route.region = "r";
  inference::SystemSharedMemoryRegisterRequest request;
  ASSERT_TRUE(request.ParseFromString(
      *MethodRequestOf(route, R"({"key": "/a", "offset": 1, "byte_size": 2})")));
  EXPECT_EQ(request.name(), "r");
  EXPECT_EQ(request.key(), "/a");
}

TEST(MethodBodies, TheModelToForgiveStandsInThePath) {
  const Route route = RouteOf("POST", "/mpsd/models/m/forgive");
  control::v1::ForgiveRequest request;
  ASSERT_TRUE(request.ParseFromString(*MethodRequestOf(route, "")));
  EXPECT_EQ(request.model_name(), "m");
  control::v1::ForgiveReply reply;
  reply.set_contents(2);
  EXPECT_EQ(*MethodJsonOf(route.kind, reply.SerializeAsString()), R"({"contents":2})");
}

TEST(MethodBodies, OtherBodiesAreRefused) {
  for (const RouteKind kind :
       {RouteKind::kRepositoryIndex, RouteKind::kModelLoad, RouteKind::kModelUnload,
        RouteKind::kTraceSetting, RouteKind::kLogSettings, RouteKind::kSystemRegister}) {
    for (const char* body : {"[]", "{", "1", "{} {}"}) {
      EXPECT_TRUE(absl::IsInvalidArgument(MethodRequestOf(Of(kind), body).status())) << body;
    }
  }
}

TEST(MethodBodies, EachMethodIsAlsoInTheGatesList) {
  for (int kind = static_cast<int>(RouteKind::kServerMetadata);
       kind <= static_cast<int>(RouteKind::kCudaUnregister); ++kind) {
    const absl::string_view name = MethodNameOf(static_cast<RouteKind>(kind));
    EXPECT_EQ(AccessOf(name).name, name);
  }
}

TEST(MethodBodies, AnIndexIsAListWithoutAnObjectAround) {
  inference::RepositoryIndexResponse response;
  response.add_models()->set_name("a");
  response.add_models()->set_name("b");
  const std::string json = *MethodJsonOf(RouteKind::kRepositoryIndex, response.SerializeAsString());
  EXPECT_EQ(json.find("[{\"name\":\"a\""), 0U) << json;
  EXPECT_EQ(json.back(), ']');
}

TEST(MethodBodies, AConfigHasNoObjectAround) {
  inference::ModelConfigResponse response;
  response.mutable_config()->set_name("m");
  const std::string json = *MethodJsonOf(RouteKind::kModelConfig, response.SerializeAsString());
  EXPECT_EQ(json.find("{\"name\":\"m\""), 0U) << json;
}

TEST(MethodBodies, WhatHasNoFieldsHasNoBody) {
  EXPECT_EQ(*MethodJsonOf(RouteKind::kModelLoad, ""), "");
  EXPECT_EQ(*MethodJsonOf(RouteKind::kModelReady, ""), "");
}

TEST(MethodBodies, ATextThatIsNotUtf8IsAnErrorOfTheServer) {
  // ModelConfigResponse {config {name: "\xe9"}}
  EXPECT_TRUE(
      absl::IsInternal(MethodJsonOf(RouteKind::kModelConfig, "\x0a\x03\x0a\x01\xe9").status()));
}

}  // namespace
}  // namespace mpsd
