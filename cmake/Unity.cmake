# Most of what a source takes to compile is headers, which sources compiled at once share: a clean
# build takes little more than a third of the processor time (HACKING.md has the figures), but a
# change of one source compiles all of its unit. The preset dev, or
# `cmake --preset release -D PLIMSOLL_UNITY=OFF`, is for long work on few sources.
#
# In a unit the unnamed namespaces of its sources are one, so names there are unique in a room:
# two of a name either are the same thing, said twice, or are to be told apart. Tests, each a small
# world of its own, may be listed under ALONE instead. The preset clang compiles each by itself.
set(PLIMSOLL_UNIT_SOURCES 8)  # more would leave a processor idle at the end of a room

# CMake lists the units in compile_commands.json, and an editor wants each source.
find_program(PYTHON3 python3)
if(PLIMSOLL_UNITY AND PYTHON3)
  set(script ${CMAKE_SOURCE_DIR}/tools/compile_commands.py)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/compile_commands.stamp
    COMMAND ${PYTHON3} ${script} ${CMAKE_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/compile_commands.stamp
    DEPENDS ${script} ${CMAKE_BINARY_DIR}/compile_commands.json VERBATIM)
  add_custom_target(compile_commands ALL DEPENDS ${CMAKE_BINARY_DIR}/compile_commands.stamp)
endif()

# plimsoll_unity(TARGET ALONE source...)
function(plimsoll_unity target)
  cmake_parse_arguments(UNITY "" "" "ALONE" ${ARGN})
  if(PLIMSOLL_UNITY)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${PLIMSOLL_UNIT_SOURCES})
    set_source_files_properties(${UNITY_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
