# mpsd_build_stamp(TARGET): gives the target the header server/build_stamp.h, which says of what it
# was built. A commit makes the header anew, and nothing else includes it. MPSD_STAMP, as
# "VERSION COMMIT", is for sources without git.
set(MPSD_STAMP "" CACHE STRING "The version and the commit of these sources; empty: as git says")

# The commit that the header is of is known when the build runs, not when it is configured.
function(mpsd_build_stamp target)
  set(header ${PROJECT_BINARY_DIR}/server/build_stamp.h)
  set(libtorch none)
  if(MPSD_TORCH)
    # The first is that of 2.8 and newer, which the second includes.
    set(places headeronly/version.h csrc/api/include/torch/version.h)
    list(TRANSFORM places PREPEND ${MPSD_LIBTORCH}/include/torch/)
    set(numbers "")
    foreach(place IN LISTS places)
      if(EXISTS ${place} AND NOT numbers)
        file(STRINGS ${place} numbers REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
      endif()
    endforeach()
    list(TRANSFORM numbers REPLACE ".* " "")
    list(JOIN numbers . libtorch)
  endif()
  set(head "")
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS "${log}")
    set(head ${log})
  endif()
  set(build "${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  string(APPEND build ", ${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}")
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} "-DHEADER=${header}" "-DSTAMP=${MPSD_STAMP}" "-DLIBTORCH=${libtorch}"
      "-DBUILD=${build}" "-DSOURCES=${PROJECT_SOURCE_DIR}"
      -P ${PROJECT_SOURCE_DIR}/cmake/write_build_stamp.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/version.sh ${PROJECT_SOURCE_DIR}/cmake/write_build_stamp.cmake
      ${head}
    COMMENT "Generating server/build_stamp.h"
    VERBATIM)
  target_sources(${target} PRIVATE ${header})
endfunction()
