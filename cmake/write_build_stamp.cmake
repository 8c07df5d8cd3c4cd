# Writes HEADER, as cmake/BuildStamp.cmake asks for it, unless the file says the same already.
if(STAMP STREQUAL "")
  execute_process(COMMAND ${SOURCES}/cmake/version.sh OUTPUT_VARIABLE STAMP
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
string(REGEX MATCH "^([^ ]+) ([^ ]+)$" whole "${STAMP}")
if(whole STREQUAL "")
  message(FATAL_ERROR "MPSD_STAMP is not \"VERSION COMMIT\" but \"${STAMP}\"")
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT [[
// Written by cmake/write_build_stamp.cmake.
#pragma once

#define MPSD_BUILD_VERSION "@CMAKE_MATCH_1@"
#define MPSD_BUILD_COMMIT "@CMAKE_MATCH_2@"
#define MPSD_BUILD_LIBTORCH "@LIBTORCH@"
#define MPSD_BUILD_KIND "@BUILD@"
]] @ONLY)
file(TOUCH_NOCREATE ${HEADER})
