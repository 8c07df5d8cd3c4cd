// The library libmpsd-cuda-graphs: GraphRecorder by CUDA's graphs. Compiled if the headers of
// CUDA's runtime are there. The symbols of CUDA and libtorch_cuda come from the libraries that the
// worker has loaded.

#include <memory>
#include <utility>

#include "ATen/cuda/CUDAGraph.h"
#include "c10/cuda/CUDACachingAllocator.h"
#include "c10/cuda/CUDAFunctions.h"
#include "worker/model/torch/graph_recorder.h"

namespace mpsd {
namespace {

using at::cuda::CUDAGraph;
namespace allocator = c10::cuda::CUDACachingAllocator;

class CudaRun final : public RecordedRun {
 public:
  explicit CudaRun(std::unique_ptr<CUDAGraph> graph) : graph_(std::move(graph)) {}

  void Replay() override { graph_->replay(); }

 private:
  const std::unique_ptr<CUDAGraph> graph_;
};

// Holds the pool as long as the recorder lives, even while it has no run: libtorch's allocator does
// not take a pool again that nobody holds.
class CudaRecorder final : public GraphRecorder {
 public:
  CudaRecorder() : device_(c10::cuda::current_device()), pool_(at::cuda::graph_pool_handle()) {
    allocator::createOrIncrefPool(device_, pool_);
  }
  ~CudaRecorder() override {
    Abandon();
    Attempt([&] { allocator::releasePool(device_, pool_); });
  }

  // Other lanes may allocate meanwhile: only this thread is kept from what a recording forbids.
  void Begin() override {
    auto graph = std::make_unique<CUDAGraph>();
    graph->capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
    graph_ = std::move(graph);
  }

  std::unique_ptr<RecordedRun> End() override {
    graph_->capture_end();
    return std::make_unique<CudaRun>(std::move(graph_));
  }

  // Ending a recording that CUDA has given up throws, and leaves the pool with the allocator.
  void Abandon() override {
    if (graph_ == nullptr) return;
    if (!Attempt([&] { graph_->capture_end(); })) {
      Attempt([&] { allocator::endAllocateToPool(device_, pool_); });
      Attempt([&] { allocator::releasePool(device_, pool_); });
      static_cast<void>(cudaGetLastError());
    }
    graph_.reset();
  }

 private:
  // Returns whether `function` did not throw.
  template <typename Function>
  static bool Attempt(const Function& function) {
    try {
      function();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  const c10::DeviceIndex device_;
  const at::cuda::MempoolId_t pool_;
  std::unique_ptr<CUDAGraph> graph_;  // the one being recorded
};

}  // namespace
}  // namespace mpsd

extern "C" mpsd::GraphRecorder* MpsdNewGraphRecorder() { return new mpsd::CudaRecorder(); }
