// PackageFolder: the folder of the packages that make_packages.py makes. Tests without it are
// skipped.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace mpsd {

inline std::string PackagePath(const std::string& file) {
  return std::string(MPSD_PACKAGES) + "/" + file;
}

// Packages are code that a full torch compiles for this machine, so they are not part of a
// checkout. Lives on the main thread.
class PackageFolder : public testing::Environment {
 public:
  void SetUp() override {
    if (std::filesystem::exists(PackagePath(".complete"))) return;
    GTEST_SKIP() << "there are no packages; ./run torch fetches what makes them";
  }
};

inline testing::Environment* const kPackageFolder =
    testing::AddGlobalTestEnvironment(new PackageFolder);

}  // namespace mpsd
