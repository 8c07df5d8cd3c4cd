// The library libmpsd-cuda-graphs: GraphRecorder by CUDA's graphs. Compiled where the headers of
// CUDA's runtime are; its symbols of CUDA and libtorch_cuda are those that the worker has loaded.

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

// The pool lives as long as the recorder, though it may have no run for a while: libtorch's
// allocator takes no pool again that nobody holds.
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

  // The end of a recording that CUDA has given up throws, and then leaves the allocator with the
  // pool.
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
  // Whether it did not throw.
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
  std::unique_ptr<CUDAGraph> graph_;  // that is being recorded
};

}  // namespace
}  // namespace mpsd

extern "C" mpsd::GraphRecorder* MpsdNewGraphRecorder() { return new mpsd::CudaRecorder(); }
