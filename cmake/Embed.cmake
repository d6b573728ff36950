# A file as a part of the program.

# plimsoll_embed(TARGET FILE file HEADER header FUNCTION name): defines the function `name` of
# `header`, which answers the bytes of `file` as a std::string_view.
function(plimsoll_embed target)
  cmake_parse_arguments(EMBED "" "FILE;HEADER;FUNCTION" "" ${ARGN})
  get_filename_component(name ${EMBED_FILE} NAME)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D FILE=${EMBED_FILE} -D HEADER=${EMBED_HEADER}
      -D FUNCTION=${EMBED_FUNCTION} -D SOURCE=${source} -P ${CMAKE_SOURCE_DIR}/cmake/Bytes.cmake
    DEPENDS ${EMBED_FILE} ${CMAKE_SOURCE_DIR}/cmake/Bytes.cmake VERBATIM)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
