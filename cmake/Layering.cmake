# The dependency rules between folders, checked when the build is configured.
#
# Every folder is one library, made with mpsd_library(NAME FILES... DEPS ...). It is named for its
# path below the top folder: server/regions/device is regions_device; server itself is daemon. A
# library may name only what the table below allows. tests/tidy/layering_test.py holds the #include
# lines and the linked binaries to the same table, and refuses an edge that no #include line uses.

# folder               what it may name
# -- proto: the contracts
set(MPSD_EDGES_base                  absl platform_libs)
set(MPSD_EDGES_files                 base absl)
set(MPSD_EDGES_encoding              base absl)
set(MPSD_EDGES_shm                   base)
set(MPSD_EDGES_link                  base files json)
set(MPSD_EDGES_confine               absl)
set(MPSD_EDGES_proto                 protobuf grpc)
# -- text: tokenizers
set(MPSD_EDGES_unicode               base absl)
set(MPSD_EDGES_normalize             unicode absl)
set(MPSD_EDGES_split                 unicode absl)
set(MPSD_EDGES_subword               unicode split absl)
set(MPSD_EDGES_tokenizer             base unicode normalize split subword json absl)
# -- server: what a request passes, in its order
set(MPSD_EDGES_access                base absl openssl)
set(MPSD_EDGES_telemetry             base encoding absl prometheus)
set(MPSD_EDGES_telemetry_log         base access encoding telemetry absl json spdlog)
set(MPSD_EDGES_telemetry_collector   base encoding telemetry telemetry_log curl absl prometheus)
set(MPSD_EDGES_telemetry_http        telemetry absl json)
set(MPSD_EDGES_request_graph         base link absl)
set(MPSD_EDGES_request               base encoding request_graph link telemetry absl)
set(MPSD_EDGES_http_connections      base files telemetry telemetry_log openssl absl)
set(MPSD_EDGES_bodies_grpc           base encoding request proto protobuf absl)
set(MPSD_EDGES_bodies_json           base link request bodies_grpc proto protobuf simdjson absl)
set(MPSD_EDGES_bodies_inflate        request zlib absl)
set(MPSD_EDGES_regions               base link request http_connections bodies_grpc telemetry absl)
set(MPSD_EDGES_regions_device        base link request telemetry telemetry_log absl)
set(MPSD_EDGES_exchange              base request http_connections bodies_grpc regions telemetry
                                     telemetry_log absl)
set(MPSD_EDGES_http_calls            base request http_connections absl)
set(MPSD_EDGES_http                  base request http_connections http_calls telemetry boost
                                     openssl nghttp2 absl)
set(MPSD_EDGES_texts                 base files link request telemetry tokenizer json absl)
set(MPSD_EDGES_bodies_text_routes    base link request bodies_json texts absl)
set(MPSD_EDGES_door_page             base access proto absl)
set(MPSD_EDGES_door_route            base http_connections http bodies_grpc bodies_text_routes absl)
set(MPSD_EDGES_door                  base access request http_calls bodies_inflate bodies_grpc
                                     exchange http bodies_json door_route door_page proto
                                     bodies_text_routes texts telemetry telemetry_log
                                     telemetry_http absl)
set(MPSD_EDGES_cache                 base access request telemetry absl)
set(MPSD_EDGES_admit                 base access link request texts absl)
set(MPSD_EDGES_compose               base request absl)
set(MPSD_EDGES_compose_steps         base compose request_graph request texts exchange telemetry
                                     absl)
set(MPSD_EDGES_compose_parts         base compose request absl)
set(MPSD_EDGES_compose_sequences     base compose link request telemetry absl)
set(MPSD_EDGES_pool_schedule         absl)
set(MPSD_EDGES_pool_resources        base request pool_schedule telemetry absl)
set(MPSD_EDGES_pool_batch            base link shm request pool_schedule absl)
set(MPSD_EDGES_pool_lanes            base link shm request pool_batch absl)
set(MPSD_EDGES_pool                  base shm request pool_schedule pool_resources pool_batch
                                     pool_lanes telemetry absl)
set(MPSD_EDGES_pool_plane            base pool_lanes pool absl)
set(MPSD_EDGES_pool_reply            base request absl)
# -- server: what keeps the house
set(MPSD_EDGES_control               base request texts http_calls regions proto protobuf telemetry
                                     telemetry_log absl)
set(MPSD_EDGES_supervise_policy      base pool_lanes request telemetry absl)
set(MPSD_EDGES_supervise_process     base files link pool_lanes telemetry telemetry_log absl)
set(MPSD_EDGES_supervise             base link pool_lanes pool pool_plane telemetry_log request
                                     supervise_policy supervise_process absl)
set(MPSD_EDGES_config                base files link access request_graph request json absl)
set(MPSD_EDGES_config_triton         base files config request_graph request proto protobuf json
                                     absl)
set(MPSD_EDGES_models_reload         base config config_triton request telemetry telemetry_log json
                                     absl)
set(MPSD_EDGES_models                base files link config request_graph request texts cache
                                     compose_steps compose_parts compose_sequences pool_schedule
                                     pool_resources pool_batch pool supervise supervise_policy
                                     telemetry telemetry_log models_reload json absl)
set(MPSD_EDGES_operate_doctor        base files config http_connections link json absl)
set(MPSD_EDGES_operate_handover      base files http absl)
set(MPSD_EDGES_operate               base files operate_handover config access json absl)
set(MPSD_EDGES_daemon                base request bodies_text_routes cache admit compose_steps
                                     compose_sequences pool_resources pool_plane pool_reply
                                     supervise supervise_process telemetry telemetry_log
                                     telemetry_collector telemetry_http http_connections regions
                                     regions_device http_calls http operate_handover door control
                                     config models_reload models operate_doctor link absl)
# -- worker
set(MPSD_EDGES_metal                 base link absl)
set(MPSD_EDGES_model                 base link absl)
set(MPSD_EDGES_model_sharing         base absl)
set(MPSD_EDGES_model_synthetic       base link model model_sharing absl)
set(MPSD_EDGES_model_products        base absl)
set(MPSD_EDGES_model_runtime         base link model absl)
set(MPSD_EDGES_model_torch           base link metal model model_runtime model_products
                                     model_sharing absl torch)
set(MPSD_EDGES_model_torchscript     base link model model_torch model_products json absl torch)
set(MPSD_EDGES_model_aoti            link model model_torch json absl torch)
set(MPSD_EDGES_model_encoder_config  base link json absl)
set(MPSD_EDGES_model_encoder_weights base files link model_torch model_encoder_config
                                     model_products json absl torch)
set(MPSD_EDGES_model_encoder_batch   base model_encoder_config absl torch)
set(MPSD_EDGES_model_encoder         base link model model_torch model_encoder_config
                                     model_encoder_weights model_encoder_batch model_products absl
                                     torch)
set(MPSD_EDGES_sandbox               base confine files link absl)
set(MPSD_EDGES_execute               base link shm model absl)
set(MPSD_EDGES_load                  base files link execute model model_synthetic model_torch
                                     model_torchscript model_aoti model_encoder sandbox json absl)
set(MPSD_EDGES_consume               base link shm execute model absl)
set(MPSD_EDGES_tools                 link model json absl torch)
# -- other programs
set(MPSD_EDGES_copier                base confine link absl)
set(MPSD_EDGES_client                base encoding proto protobuf grpc absl)
set(MPSD_EDGES_web                   base client boost openssl absl json)
set(MPSD_EDGES_hub                   base files openssl curl absl json)
set(MPSD_EDGES_traffic               base link client proto protobuf grpc absl)
set(MPSD_EDGES_bench                 base client traffic web proto json absl)
set(MPSD_EDGES_tune                  base files link client bench json absl)
set(MPSD_EDGES_format                base files client unicode absl)
set(MPSD_EDGES_manual                absl json cli11)
set(MPSD_EDGES_cli                   base files link client web bench tune format hub manual absl
                                     json cli11)

set(MPSD_LINK_absl absl::status absl::statusor absl::strings absl::synchronization absl::time
  absl::flat_hash_map absl::inlined_vector absl::span absl::random_random)
set(MPSD_LINK_json nlohmann_json::nlohmann_json)
set(MPSD_LINK_simdjson simdjson::simdjson)
set(MPSD_LINK_protobuf protobuf::libprotobuf)
set(MPSD_LINK_grpc gRPC::grpc++)
set(MPSD_LINK_openssl OpenSSL::SSL OpenSSL::Crypto)
set(MPSD_LINK_zlib ZLIB::ZLIB)
set(MPSD_LINK_curl CURL::libcurl)
set(MPSD_LINK_prometheus prometheus-cpp::core)
set(MPSD_LINK_boost mpsd_boost)
set(MPSD_LINK_nghttp2 mpsd_nghttp2)
set(MPSD_LINK_spdlog spdlog::spdlog)
set(MPSD_LINK_cli11 CLI11::CLI11)
set(MPSD_LINK_torch mpsd_libtorch)
set(MPSD_LINK_platform_libs Threads::Threads)

# No request passes these folders. At -O1 they compile in three quarters of the time of -O2.
set(MPSD_COLD link control door_page operate_doctor config config_triton models_reload models
  operate_handover operate supervise supervise_policy supervise_process daemon tune
  format manual cli tools)

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
    if(name IN_LIST MPSD_COLD AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
      target_compile_options(mpsd_${name} PRIVATE -O1)
    endif()
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
    foreach(bad gRPC::grpc++ protobuf::libprotobuf prometheus-cpp::core OpenSSL::Crypto ZLIB::ZLIB
        mpsd_nghttp2 simdjson::simdjson mpsd_request)
      if(bad IN_LIST worker)
        message(FATAL_ERROR "layering: mpsd-worker reaches ${bad}")
      endif()
    endforeach()
  endif()
  if(TARGET mpsd-worker-synthetic)
    mpsd_reach(mpsd-worker-synthetic synthetic)
    if(mpsd_libtorch IN_LIST synthetic)
      message(FATAL_ERROR "layering: mpsd-worker-synthetic reaches mpsd_libtorch")
    endif()
  endif()
endfunction()
