# mpsd_embed(VARIABLE HEADER NAME FILE [NAME FILE…]): a source with the texts of files in it. HEADER
# declares the constants, each a string_view. VARIABLE becomes the path of the source.
#
# The build writes that source by this file, as a script:
#   cmake -P Embed.cmake HEADER OUT NAME FILE [NAME FILE…]
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(MPSD_EMBED ${CMAKE_CURRENT_LIST_FILE})
  function(mpsd_embed variable header)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cc)
    set(files ${ARGN})
    list(FILTER files INCLUDE REGEX /)
    add_custom_command(OUTPUT ${out} COMMENT "Embedding texts for ${header}" VERBATIM
      COMMAND ${CMAKE_COMMAND} -P ${MPSD_EMBED} ${header} ${out} ${ARGN}
      DEPENDS ${files} ${MPSD_EMBED})
    set(${variable} ${out} PARENT_SCOPE)
  endfunction()
  return()
endif()

set(words "")
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE 3 ${last})
  list(APPEND words ${CMAKE_ARGV${index}})
endforeach()
list(POP_FRONT words header out)
file(WRITE ${out} "#include \"${header}\"\n\nnamespace mpsd {\n\n")
while(words)
  list(POP_FRONT words name path)
  file(READ ${path} text)
  file(APPEND ${out} "const absl::string_view ${name} = R\"embedded(${text})embedded\";\n")
endwhile()
file(APPEND ${out} "\n}  // namespace mpsd\n")
