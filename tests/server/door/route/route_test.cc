#include "server/door/route/route.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

RouteKind Get(const char* path) { return RouteOf("GET", path).kind; }
RouteKind Post(const char* path) { return RouteOf("POST", path).kind; }

TEST(Route, PagesForMonitors) {
  for (const char* path :
       {"/metrics", "/livez", "/readyz", "/health", "/v2/health/live", "/v2/health/ready"}) {
    EXPECT_EQ(Get(path), RouteKind::kPage) << path;
    EXPECT_EQ(RouteOf("HEAD", path).kind, RouteKind::kPage) << path;
    EXPECT_EQ(Post(path), RouteKind::kWrongMethod) << path;
  }
}

TEST(Route, AModelsPaths) {
  EXPECT_EQ(Get("/v2"), RouteKind::kServerMetadata);
  EXPECT_EQ(Get("/v2/"), RouteKind::kServerMetadata);
  EXPECT_EQ(Get("/v2/models/m"), RouteKind::kModelMetadata);
  EXPECT_EQ(Get("/v2/models/m/ready"), RouteKind::kModelReady);
  EXPECT_EQ(Get("/v2/models/m/config"), RouteKind::kModelConfig);
  EXPECT_EQ(Get("/v2/models/m/stats"), RouteKind::kModelStatistics);
  EXPECT_EQ(Post("/v2/models/m/infer"), RouteKind::kInfer);
  EXPECT_EQ(Post("/v2/models/m/generate"), RouteKind::kGenerate);
  EXPECT_EQ(Post("/v2/models/m/versions/2/generate_stream"), RouteKind::kGenerateStream);
  EXPECT_EQ(Get("/v2/models/stats"), RouteKind::kModelStatistics);
  EXPECT_EQ(RouteOf("GET", "/v2/models/stats").model, "");
}

TEST(Route, OurOwnPaths) {
  EXPECT_EQ(Get("/"), RouteKind::kFrontPage);
  EXPECT_EQ(Get("/docs"), RouteKind::kDocs);
  EXPECT_EQ(Get("/mpsd/status"), RouteKind::kStatus);
  EXPECT_EQ(Post("/mpsd/models/m/forgive"), RouteKind::kForgive);
  EXPECT_EQ(RouteOf("POST", "/mpsd/models/a%20b/forgive").model, "a b");
  EXPECT_EQ(Get("/mpsd/models/m/forgive"), RouteKind::kWrongMethod);
  EXPECT_EQ(RouteOf("PUT", "/").kind, RouteKind::kWrongMethod);
  for (const char* path : {"/docs", "/mpsd/status"}) {
    EXPECT_EQ(Post(path), RouteKind::kWrongMethod) << path;
  }
}

TEST(Route, TextsThatArePostedToTheRootAreEmbedded) {
  const Route route = RouteOf("POST", "/");
  EXPECT_EQ(route.kind, RouteKind::kText);
  EXPECT_EQ(route.text.route, TextRoute::kEmbed);
  EXPECT_EQ(route.text.errors, ErrorForm::kTei);
  EXPECT_STREQ(route.allow, "GET, HEAD, POST");
}

TEST(Route, NameAndVersion) {
  const Route route = RouteOf("POST", "/v2/models/m/versions/12/infer");
  EXPECT_EQ(route.kind, RouteKind::kInfer);
  EXPECT_EQ(route.model, "m");
  EXPECT_EQ(route.version, "12");
  EXPECT_EQ(RouteOf("GET", "/v2/models/m/versions/12").kind, RouteKind::kModelMetadata);
}

TEST(Route, EscapesOfNames) {
  EXPECT_EQ(RouteOf("GET", "/v2/models/a%20%c3%A4").model, "a \xc3\xa4");
  for (const char* path :
       {"/v2/models/a%2fb", "/v2/models/a%00", "/v2/models/a%", "/v2/models/a%2", "/v2/models/a%zz",
        "/v2/models/", "/v2/models/%ff", "/v2/models/\xff", "/v2/models/%c3/ready"}) {
    EXPECT_EQ(Get(path), RouteKind::kNone) << path;
  }
}

TEST(Route, Texts) {
  EXPECT_EQ(Post("/v1/embeddings"), RouteKind::kText);
  EXPECT_EQ(Post("/v1/embeddings/"), RouteKind::kText);
  EXPECT_EQ(Get("/v1/embeddings"), RouteKind::kWrongMethod);
  EXPECT_EQ(RouteOf("POST", "/rerank").text.route, TextRoute::kRerank);
  EXPECT_EQ(Get("/v1/models"), RouteKind::kTextPage);
  EXPECT_EQ(RouteOf("GET", "/v1/models/a%20b").model, "a b");
  EXPECT_EQ(Get("/v1/models/a%2fb"), RouteKind::kNone);
  EXPECT_EQ(Post("/info"), RouteKind::kWrongMethod);
}

TEST(Route, Repository) {
  EXPECT_EQ(Post("/v2/repository/index"), RouteKind::kRepositoryIndex);
  EXPECT_EQ(Post("/v2/repository/models/m/load"), RouteKind::kModelLoad);
  EXPECT_EQ(RouteOf("POST", "/v2/repository/models/m/unload").kind, RouteKind::kModelUnload);
  EXPECT_EQ(RouteOf("POST", "/v2/repository/models/m/unload").model, "m");
}

TEST(Route, Settings) {
  for (const char* method : {"GET", "POST"}) {
    EXPECT_EQ(RouteOf(method, "/v2/trace/setting").kind, RouteKind::kTraceSetting);
    EXPECT_EQ(RouteOf(method, "/v2/models/m/trace/setting").kind, RouteKind::kTraceSetting);
    EXPECT_EQ(RouteOf(method, "/v2/models/m/trace/setting").model, "m");
    EXPECT_EQ(RouteOf(method, "/v2/logging").kind, RouteKind::kLogSettings);
  }
  EXPECT_EQ(RouteOf("PUT", "/v2/logging").kind, RouteKind::kWrongMethod);
}

TEST(Route, Regions) {
  EXPECT_EQ(Get("/v2/systemsharedmemory/status"), RouteKind::kSystemRegions);
  EXPECT_EQ(RouteOf("GET", "/v2/cudasharedmemory/region/r%20/status").region, "r ");
  EXPECT_EQ(Post("/v2/systemsharedmemory/region/r/register"), RouteKind::kSystemRegister);
  EXPECT_EQ(Post("/v2/systemsharedmemory/unregister"), RouteKind::kSystemUnregister);
  EXPECT_EQ(Post("/v2/cudasharedmemory/region/r/unregister"), RouteKind::kCudaUnregister);
  EXPECT_EQ(Post("/v2/systemsharedmemory/register"), RouteKind::kNone);
  EXPECT_EQ(Post("/v2/systemsharedmemory/region//register"), RouteKind::kNone);
  EXPECT_EQ(Get("/v2/systemsharedmemory/region/r"), RouteKind::kNone);
}

TEST(Route, AnotherMethodIsToldWhichOnesThereAre) {
  const Route route = RouteOf("GET", "/v2/models/m/infer");
  EXPECT_EQ(route.kind, RouteKind::kWrongMethod);
  EXPECT_STREQ(route.allow, "POST");
  EXPECT_STREQ(RouteOf("DELETE", "/v2").allow, "GET, HEAD");
}

TEST(Route, APathIsTakenAsItIsWritten) {
  for (const char* path : {"",
                           "*",
                           "//",
                           "/mpsd",
                           "/mpsd/status/x",
                           "/docs/x",
                           "/v2/../metrics",
                           "/v2//models/m",
                           "/V2",
                           "//metrics",
                           "/metrics/x",
                           "/v2/models/m/versions//infer",
                           "/v2/models/m/infer/x",
                           "/v2/models/m/versions",
                           "/v2/repository/models//load/x",
                           "/v2/repository/models//load",
                           "/v2/repository",
                           "/v3/models",
                           "/mpsd/models/m",
                           "/mpsd/models//forgive",
                           "/mpsd/models/m/x/forgive",
                           "/mpsd/models/forgive"}) {
    EXPECT_EQ(Get(path), RouteKind::kNone) << path;
    EXPECT_EQ(Post(path), RouteKind::kNone) << path;
  }
}

}  // namespace
}  // namespace mpsd
