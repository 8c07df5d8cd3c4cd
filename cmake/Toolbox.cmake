# Flags that every target of this repository gets, and the sanitizer switch.

find_program(MPSD_CCACHE ccache)
if(MPSD_CCACHE)
  # Paths relative to the checkout, so that every clone on this host shares the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 ${MPSD_CCACHE})
endif()

add_library(mpsd_flags INTERFACE)
target_include_directories(mpsd_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(PROJECT_IS_TOP_LEVEL)  # another project has warnings of its own
  target_compile_options(mpsd_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
    -Woverloaded-virtual -Wno-missing-field-initializers)
endif()
# __FILE__ is relative to the checkout: no machine's path is in a binary, and clones share the cache.
target_compile_options(mpsd_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(MPSD_PORTABLE)
  # Below a launcher that makes paths relative, __FILE__ begins with the way up from the build, or
  # with "./" in a generated file: a package has the same bytes with the launcher and without.
  file(RELATIVE_PATH way_up ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  target_compile_options(mpsd_flags INTERFACE -fmacro-prefix-map=${way_up}=
    -fmacro-prefix-map=${PROJECT_BINARY_DIR}/= -fmacro-prefix-map=./=)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  # As on x86-64 and on a Mac: a byte of UTF-8 above 127 is a negative char.
  target_compile_options(mpsd_flags INTERFACE -fsigned-char)
endif()
target_compile_definitions(mpsd_flags INTERFACE MPSD_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(mpsd_flags INTERFACE -Wthread-safety)
endif()
if(MPSD_WERROR)
  target_compile_options(mpsd_flags INTERFACE -Werror)
else()
  # What newer libraries want otherwise concerns developers, who read it by `./run check-newest`.
  target_compile_options(mpsd_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(MPSD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(MPSD_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)  # instrumented code makes gcc see what is not there
  endif()
  add_compile_options(-fsanitize=${MPSD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MPSD_SANITIZE})
  if(MPSD_SANITIZE MATCHES "undefined")
    # Checks of each access that cost a quarter of the compiler's time: what they find, the address
    # sanitizer stops too, but for a number at an odd address, which no machine here minds.
    add_compile_options(
      -fno-sanitize=null,vptr,alignment,object-size,nonnull-attribute,returns-nonnull-attribute)
  endif()
  if(MPSD_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Protobuf's and Abseil's headers lay classes out by this macro; their libraries had none.
    add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1)
  endif()
endif()

# mpsd_failpoints(sources...): these sources of this folder have failpoints, which a release leaves
# out. Source by source, so that all others compile to the same objects either way.
function(mpsd_failpoints)
  if(MPSD_FAILPOINTS)
    set(with 1)
  else()
    set(with 0)
  endif()
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS MPSD_FAILPOINTS=${with})
endfunction()
