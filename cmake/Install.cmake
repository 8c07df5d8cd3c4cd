# What `cmake --install BUILD --prefix PREFIX` puts where. An installed mpsd needs neither the clone
# nor the build:
#
#   PREFIX/bin        the programs; mpsd starts those that lie beside it       component mpsd
#   PREFIX/lib        on macOS, the driver's guard for other programs          component mpsd
#   PREFIX/lib/mpsd   libtorch's libraries, where the worker looks first       component libtorch
#
# The worker in the build finds libtorch where it was built with, by the same program: CMake's own
# exchange of the two paths at the installation would have the one in the build look for libraries in
# the folder that it is started in.
if(APPLE)
  set(origin @loader_path)
else()
  set(origin $ORIGIN)
endif()

if(TARGET mpsd-cuda-graphs)
  install(TARGETS mpsd-cuda-graphs LIBRARY DESTINATION bin COMPONENT mpsd)
endif()
if(TARGET mpsd-driver-guard)
  install(TARGETS mpsd-driver-guard LIBRARY DESTINATION lib COMPONENT mpsd)
endif()
foreach(program mpsd mpsd-worker mpsd-worker-synthetic mpsd-device-copier)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
    install(TARGETS ${program} RUNTIME DESTINATION bin COMPONENT mpsd)
  endif()
endforeach()

if(MPSD_TORCH)
  set(libtorch_paths ${origin}/../lib/mpsd)
  if(NOT MPSD_PORTABLE)
    list(APPEND libtorch_paths ${MPSD_LIBTORCH}/lib)
  endif()
  set_target_properties(mpsd-worker PROPERTIES INSTALL_RPATH "${libtorch_paths}")
  install(DIRECTORY ${MPSD_LIBTORCH}/lib/ DESTINATION lib/mpsd COMPONENT libtorch
    FILES_MATCHING PATTERN "*.so*" PATTERN "*.dylib")
endif()
