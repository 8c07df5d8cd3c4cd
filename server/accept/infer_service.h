// InferService: ModelInfer and ModelStreamInfer, the two methods that are not generic calls.
#pragma once

#include <grpcpp/impl/codegen/async_stream.h>
#include <grpcpp/impl/codegen/async_unary_call.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/support/byte_buffer.h>

namespace mpsd {

// Registered with the gRPC server, which it outlives. Both methods take and give raw bytes. The
// generated service class is not used: it would register every method of the service.
// Thread-safe.
class InferService final : public grpc::Service {
 public:
  static constexpr const char* kMethod = "/inference.GRPCInferenceService/ModelInfer";

  static constexpr const char* kStreamMethod = "/inference.GRPCInferenceService/ModelStreamInfer";

  InferService() {
    AddMethod(new grpc::internal::RpcServiceMethod(kMethod, grpc::internal::RpcMethod::NORMAL_RPC,
                                                   nullptr));
    MarkMethodRaw(0);
    AddMethod(new grpc::internal::RpcServiceMethod(
        kStreamMethod, grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodRaw(1);
  }

  void Request(grpc::ServerContext* context, grpc::ByteBuffer* bytes,
               grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
               grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncUnary(0, context, bytes, writer, queue, queue, tag);
  }

  void RequestStream(grpc::ServerContext* context,
                     grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>* stream,
                     grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncBidiStreaming(1, context, stream, queue, queue, tag);
  }
};

}  // namespace mpsd
