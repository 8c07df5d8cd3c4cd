# The dependency rules between folders, checked when the build is configured.
#
# Every folder is one library, made with mpsd_library(NAME FILES... DEPS ...). It is named for its
# path below the top folder: server/regions/device is regions_device; server itself is daemon. A
# library may name only what the table below allows. tests/tidy/layering_test.py holds the #include
# lines and the linked binaries to the same table, and refuses an edge that no #include line uses.

# folder               what it may name
# -- proto: the contracts
set(MPSD_EDGES_base    absl platform_libs)
set(MPSD_EDGES_shm     base)
set(MPSD_EDGES_text    base json absl)
set(MPSD_EDGES_link    base json)
set(MPSD_EDGES_confine absl)
set(MPSD_EDGES_proto   protobuf grpc)
# -- server: what a request passes, in its order
set(MPSD_EDGES_access            base absl openssl)
set(MPSD_EDGES_telemetry         base absl prometheus)
set(MPSD_EDGES_telemetry_log     base access telemetry absl json spdlog)
set(MPSD_EDGES_telemetry_http    base access telemetry telemetry_log absl json civetweb)
set(MPSD_EDGES_request           base text link telemetry absl)
set(MPSD_EDGES_listen            base telemetry telemetry_log grpc openssl absl)
set(MPSD_EDGES_wire              base request proto protobuf grpc telemetry absl)
set(MPSD_EDGES_inflate           base request grpc zlib absl)
set(MPSD_EDGES_regions           base link request listen wire telemetry absl)
set(MPSD_EDGES_regions_device    base link request telemetry telemetry_log absl)
set(MPSD_EDGES_exchange          base request listen wire regions telemetry telemetry_log absl)
set(MPSD_EDGES_accept            base access request listen wire inflate regions exchange
                                 protobuf grpc telemetry telemetry_log absl)
set(MPSD_EDGES_admit             base link request absl)
set(MPSD_EDGES_schedule          absl)
set(MPSD_EDGES_batch             base link shm request schedule absl)
set(MPSD_EDGES_lanes             base link shm request batch absl)
set(MPSD_EDGES_dispatch          base shm request schedule batch lanes telemetry absl)
set(MPSD_EDGES_plane             base lanes dispatch absl)
set(MPSD_EDGES_reply             base request absl)
# -- server: what keeps the house
set(MPSD_EDGES_control           base text request accept regions proto protobuf telemetry
                                 telemetry_log absl)
set(MPSD_EDGES_supervise_policy  base lanes telemetry absl)
set(MPSD_EDGES_supervise_process base link lanes telemetry telemetry_log absl)
set(MPSD_EDGES_supervise         base link lanes dispatch plane telemetry_log request supervise_policy
                                 supervise_process absl)
set(MPSD_EDGES_config            base link access json absl)
set(MPSD_EDGES_config_triton     base config proto protobuf json absl)
set(MPSD_EDGES_reload            base config config_triton request telemetry telemetry_log absl)
set(MPSD_EDGES_place             base text link config request batch dispatch supervise telemetry
                                 telemetry_log reload json absl)
set(MPSD_EDGES_daemon            base request admit plane reply supervise supervise_process
                                 telemetry telemetry_log telemetry_http listen regions
                                 regions_device accept control config reload place absl)
# -- worker
set(MPSD_EDGES_model             base link absl)
set(MPSD_EDGES_model_synthetic   base link model absl)
set(MPSD_EDGES_model_torch       base link model absl torch)
set(MPSD_EDGES_model_torchscript base link model model_torch json absl torch)
set(MPSD_EDGES_model_aoti        link model model_torch json absl torch)
set(MPSD_EDGES_sandbox           base confine link absl)
set(MPSD_EDGES_load              base link model model_synthetic model_torch model_torchscript
                                 model_aoti sandbox json absl)
set(MPSD_EDGES_execute           base link shm model absl)
set(MPSD_EDGES_consume           base link shm execute model absl)
set(MPSD_EDGES_tools             base link model json absl torch)
# -- other programs
set(MPSD_EDGES_copier  base confine link absl)
set(MPSD_EDGES_client  base text proto grpc absl)
set(MPSD_EDGES_cli     base text link client absl json cli11)

set(MPSD_LINK_absl absl::status absl::statusor absl::strings absl::synchronization absl::time
  absl::flat_hash_map absl::inlined_vector absl::span absl::random_random)
set(MPSD_LINK_json nlohmann_json::nlohmann_json)
set(MPSD_LINK_protobuf protobuf::libprotobuf)
set(MPSD_LINK_grpc gRPC::grpc++)
set(MPSD_LINK_openssl OpenSSL::SSL OpenSSL::Crypto)
set(MPSD_LINK_zlib ZLIB::ZLIB)
set(MPSD_LINK_prometheus prometheus-cpp::core)
set(MPSD_LINK_civetweb mpsd_civetweb)
set(MPSD_LINK_spdlog spdlog::spdlog)
set(MPSD_LINK_cli11 CLI11::CLI11)
set(MPSD_LINK_torch mpsd_libtorch)
set(MPSD_LINK_platform_libs Threads::Threads)

# mpsd_library(NAME files... DEPS names...): the library mpsd_NAME of this folder.
function(mpsd_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  if(NOT DEFINED MPSD_EDGES_${name})
    message(FATAL_ERROR "layering: '${name}' is not in the table of cmake/Layering.cmake")
  endif()
  foreach(dep IN LISTS ARG_DEPS)
    if(NOT dep IN_LIST MPSD_EDGES_${name})
      message(FATAL_ERROR "layering: '${name}' must not depend on '${dep}' (cmake/Layering.cmake)")
    endif()
  endforeach()
  if(ARG_UNPARSED_ARGUMENTS)
    add_library(mpsd_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
    set(scope PUBLIC)
  else()  # a folder of headers
    add_library(mpsd_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(mpsd_${name} ${scope} mpsd_flags)
  foreach(dep IN LISTS ARG_DEPS)
    if(DEFINED MPSD_LINK_${dep})
      target_link_libraries(mpsd_${name} ${scope} ${MPSD_LINK_${dep}})
    else()
      target_link_libraries(mpsd_${name} ${scope} mpsd_${dep})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY MPSD_LIBRARIES mpsd_${name})
endfunction()

# Collects everything that `target` reaches through this repository's libraries.
function(mpsd_reach target out)
  set(todo ${target})
  set(seen "")
  while(todo)
    list(POP_FRONT todo next)
    if(next IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${next})
    if(TARGET ${next})
      foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        get_target_property(libs ${next} ${property})
        if(libs)
          list(APPEND todo ${libs})
        endif()
      endforeach()
    endif()
  endwhile()
  set(${out} ${seen} PARENT_SCOPE)
endfunction()

# Fails the configuration where a binary reaches what it must never link.
function(mpsd_check_layering)
  if(TARGET mpsd)
    mpsd_reach(mpsd front)
    foreach(bad mpsd_libtorch mpsd_load mpsd_model mpsd_execute mpsd_consume mpsd_sandbox)
      if(bad IN_LIST front)
        message(FATAL_ERROR "layering: the front end reaches ${bad}")
      endif()
    endforeach()
  endif()
  if(TARGET mpsd-worker)
    mpsd_reach(mpsd-worker worker)
    foreach(bad gRPC::grpc++ protobuf::libprotobuf prometheus-cpp::core mpsd_civetweb OpenSSL::Crypto ZLIB::ZLIB
        mpsd_request)
      if(bad IN_LIST worker)
        message(FATAL_ERROR "layering: mpsd-worker reaches ${bad}")
      endif()
    endforeach()
  endif()
endfunction()
