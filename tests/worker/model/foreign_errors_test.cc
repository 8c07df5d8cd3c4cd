#include "worker/model/foreign_errors.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace mpsd {
namespace {

TEST(ForeignErrors, KeepsTheFirstLineOfABacktrace) {
  EXPECT_EQ(MeaningfulLine("mat1 and mat2 shapes cannot be multiplied\n"
                           "Exception raised from meta at ../aten/x.cpp:3\nframe #0: f()\n"),
            "mat1 and mat2 shapes cannot be multiplied");
}

TEST(ForeignErrors, FindsTheReasonBehindTheInterpretersTraceback) {
  EXPECT_EQ(MeaningfulLine("The following operation failed in the TorchScript interpreter.\n"
                           "Traceback of TorchScript (most recent call last):\n"
                           "  File \"x.py\", line 3, in forward\n"
                           "    return f(x)\n"
                           "           ~ <--- HERE\n"
                           "    return y\n"
                           "RuntimeError: the tensors do not fit\nsecond line"),
            "the tensors do not fit");
}

TEST(ForeignErrors, KeepsTheReasonOfACompilerError) {
  EXPECT_EQ(MeaningfulLine("\nundefined value f:\n  return f(x)\n         ~ <--- HERE\n"),
            "undefined value f:");
}

TEST(ForeignErrors, SaysSomethingWhenNothingWasSaid) {
  EXPECT_EQ(MeaningfulLine(" \n\n"), "no reason was given");
}

TEST(ForeignErrors, CutsLongTextsBetweenCharacters) {
  const std::string line = MeaningfulLine("x" + std::string(300, 'a') + [] {
    std::string umlauts;
    for (int i = 0; i < 100; ++i) umlauts += "\xC3\xA4";
    return umlauts;
  }());
  EXPECT_LE(line.size(), 400u);
  EXPECT_GE(line.size(), 398u);
  EXPECT_EQ(line.back(), '\xA4');
}

TEST(ForeignErrors, ClientsSeeNoPaths) {
  EXPECT_EQ(
      ExecuteFailure("cannot open '/var/lib/models/a.pt' (see /etc/x/y), or 1/2 or /dev").message(),
      "PyTorch execute failure: cannot open '(path)' (see (path)), or 1/2 or /dev");
}

TEST(ForeignErrors, ClientsSeeNoErrnoOfAnAllocator) {
  EXPECT_EQ(ExecuteFailure("[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: "
                           "can't allocate memory: you tried to allocate 9 bytes. Error code 12 "
                           "(Cannot allocate memory)")
                .message(),
            "PyTorch execute failure: out of memory");
}

TEST(ForeignErrors, OutOfMemoryIsToldByItsCode) {
  for (const char* what : {"CUDA out of memory. Tried to allocate 2.00 GiB.",
                           "MPS backend out of memory (MPS allocated: 9 GB)", "std::bad_alloc",
                           "Invalid buffer size: 72.00 GB",
                           "Insufficient Memory "
                           "(00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"}) {
    const absl::Status status = ExecuteFailure(what);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << what;
    EXPECT_EQ(status.message(), "PyTorch execute failure: out of memory");
  }
}

TEST(ForeignErrors, ALostDeviceIsToldByItsCode) {
  for (const char* what : {"CUDA error: device-side assert triggered",
                           "CUDA error: an illegal memory access was encountered",
                           "CUDA error: unspecified launch failure",
                           "Caused GPU Hang Error (00000003:kIOGPUCommandBufferCallbackErrorHang)",
                           "Ignored (for causing prior/excessive GPU errors) "
                           "(00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)"}) {
    EXPECT_EQ(ExecuteFailure(what).code(), absl::StatusCode::kDataLoss) << what;
  }
  for (const char* what : {"CUDA error: invalid argument", "an illegal memory access, says a model",
                           "the command buffer of this model is full", "device-side assert"}) {
    EXPECT_EQ(ExecuteFailure(what).code(), absl::StatusCode::kInternal) << what;
  }
}

TEST(ForeignErrors, CatchesWhateverIsThrown) {
  EXPECT_EQ(CatchForeign([]() -> absl::Status { throw std::runtime_error("no\nmore"); }),
            absl::InternalError("PyTorch execute failure: no"));
  EXPECT_EQ(CatchForeign([]() -> absl::Status { throw 7; }).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(CatchForeign([] { return absl::NotFoundError("as it is"); }),
            absl::NotFoundError("as it is"));
}

}  // namespace
}  // namespace mpsd
