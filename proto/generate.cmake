# mpsd_proto: the messages and stubs of the .proto files, generated into the build folder's proto/,
# so that they are included as "proto/inference.grpc.pb.h".

set(proto_out ${PROJECT_BINARY_DIR}/proto)
file(MAKE_DIRECTORY ${proto_out})
set(proto_sources "")

foreach(name inference model_config health control reflection orca orca_load_report)
  set(generated ${proto_out}/${name}.pb.cc ${proto_out}/${name}.grpc.pb.cc)
  add_custom_command(
    OUTPUT ${generated} ${proto_out}/${name}.pb.h ${proto_out}/${name}.grpc.pb.h
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${PROJECT_BINARY_DIR}
      --grpc_out=${PROJECT_BINARY_DIR} --plugin=protoc-gen-grpc=${MPSD_GRPC_PLUGIN}
      ${CMAKE_CURRENT_SOURCE_DIR}/${name}.proto
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/inference.proto
      ${CMAKE_CURRENT_SOURCE_DIR}/model_config.proto
      ${CMAKE_CURRENT_SOURCE_DIR}/orca_load_report.proto ${CMAKE_CURRENT_SOURCE_DIR}/${name}.proto
    COMMENT "Generating proto/${name}.pb.cc"
    VERBATIM)
  # A file of messages has names of its own at its top level; one of stubs has none.
  set_source_files_properties(${proto_out}/${name}.pb.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  list(APPEND proto_sources ${generated})
endforeach()

mpsd_library(proto ${proto_sources} DEPS protobuf grpc)

# What protoc writes is not ours to warn about, neither when it is compiled nor when it is included.
# -O1 compiles it in half the time of -O2, and no request's tensors pass through it.
target_compile_options(mpsd_proto PRIVATE -w $<$<NOT:$<CONFIG:Debug>>:-O1>)
target_include_directories(mpsd_proto SYSTEM PUBLIC ${PROJECT_BINARY_DIR})
