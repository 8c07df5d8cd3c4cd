// InferService: the two methods that have paths of their own. All others are generic calls.
#pragma once

#include <grpcpp/impl/codegen/async_stream.h>
#include <grpcpp/impl/codegen/async_unary_call.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/support/byte_buffer.h>

namespace mpsd {

// Thread-safe. Registered with the server; outlives it. Generated service classes would bring every
// method of the service, each with a server thread pool or callback threads of its own.
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
