# Third-party libraries: found on the system first, with the oldest version that is known to work.

find_package(Threads REQUIRED)
find_package(absl REQUIRED)                  # 20220623 (Debian 12) or newer
find_package(nlohmann_json 3.11 REQUIRED)

if(MPSD_FRONT)
  find_package(Protobuf CONFIG QUIET)        # Homebrew installs a config, Debian 12 a module's worth
  if(NOT Protobuf_FOUND)
    find_package(Protobuf 3.21 REQUIRED)
  endif()
  find_package(gRPC 1.51 CONFIG REQUIRED)
  find_program(MPSD_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
endif()

if(MPSD_FRONT AND PROJECT_IS_TOP_LEVEL)
  find_package(OpenSSL 3.0 REQUIRED)         # gRPC brings it
  find_path(MPSD_BOOST_INCLUDE boost/beast/http/basic_parser.hpp REQUIRED)  # 1.74 or newer; headers only
  find_package(ZLIB 1.2.11 REQUIRED)         # likewise
  find_package(CURL 7.88 REQUIRED)           # fetches models from a hub
  find_path(MPSD_NGHTTP2_INCLUDE nghttp2/nghttp2.h REQUIRED)  # 1.52 (Debian 12) or newer
  find_library(MPSD_NGHTTP2 nghttp2 REQUIRED)
  find_package(prometheus-cpp CONFIG REQUIRED)  # Debian 12's 1.0 does not say its version
  find_package(spdlog 1.10 CONFIG REQUIRED)
  find_package(simdjson CONFIG REQUIRED)     # 3.0 or newer; its package asks for one minor version

  add_library(mpsd_boost INTERFACE)
  target_include_directories(mpsd_boost SYSTEM INTERFACE ${MPSD_BOOST_INCLUDE})
  target_compile_definitions(mpsd_boost INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)
  if(MPSD_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(mpsd_boost INTERFACE -Wno-tsan)  # it does not see fences, and sees locks
  endif()
  add_library(mpsd_nghttp2 INTERFACE)
  target_include_directories(mpsd_nghttp2 SYSTEM INTERFACE ${MPSD_NGHTTP2_INCLUDE})
  target_link_libraries(mpsd_nghttp2 INTERFACE ${MPSD_NGHTTP2})
endif()

if(PROJECT_IS_TOP_LEVEL AND (MPSD_FRONT OR MPSD_METAL_STANDIN))
  find_package(CLI11 2.1 CONFIG REQUIRED)
endif()

if(MPSD_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()

# libtorch as `./run` unpacks it from the wheel: headers and shared objects, no CMake package. The
# wheel's own TorchConfig asks for a CUDA toolkit, which a worker that links torch_cpu does not need.
if(MPSD_TORCH)
  find_library(MPSD_TORCH_CPU torch_cpu PATHS ${MPSD_LIBTORCH}/lib NO_DEFAULT_PATH REQUIRED)
  find_library(MPSD_TORCH_C10 c10 PATHS ${MPSD_LIBTORCH}/lib NO_DEFAULT_PATH REQUIRED)
  add_library(mpsd_libtorch INTERFACE)
  target_include_directories(mpsd_libtorch SYSTEM INTERFACE ${MPSD_LIBTORCH}/include
    ${MPSD_LIBTORCH}/include/torch/csrc/api/include)
  target_link_libraries(mpsd_libtorch INTERFACE ${MPSD_TORCH_CPU} ${MPSD_TORCH_C10})
  target_compile_definitions(mpsd_libtorch INTERFACE MPSD_WITH_TORCH=1)
  # A library of libtorch may need another one, which only the program's path tells at run time.
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    target_link_options(mpsd_libtorch INTERFACE -Wl,-rpath-link,${MPSD_LIBTORCH}/lib)
  endif()
  # The mps backend is a library beside libtorch there. Nothing names it, but it registers itself.
  if(MPSD_METAL_STANDIN)
    find_library(MPSD_TORCH_MPS torch_mps PATHS ${MPSD_METAL_STANDIN} NO_DEFAULT_PATH REQUIRED)
    find_library(MPSD_STANDIN metal_standin PATHS ${MPSD_METAL_STANDIN}/.. NO_DEFAULT_PATH REQUIRED)
    target_include_directories(mpsd_libtorch SYSTEM BEFORE INTERFACE
      ${MPSD_METAL_STANDIN}/include ${CMAKE_SOURCE_DIR}/tests/metal/include)
    target_link_libraries(mpsd_libtorch INTERFACE -Wl,--no-as-needed ${MPSD_TORCH_MPS}
      ${MPSD_STANDIN} -Wl,--as-needed objfwrt -Wl,--allow-shlib-undefined)
  endif()
endif()
