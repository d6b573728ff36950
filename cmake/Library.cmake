include(${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake)

# libFuzzer is told which branches are taken in the folders of src/; in tests nobody asks.
add_library(plimsoll_fuzzed INTERFACE)
if(PLIMSOLL_FUZZ)
  target_compile_options(plimsoll_fuzzed INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What most sources include; g++ gains little by it, and warns falsely. The preset clang compiles
# each source by itself, which shows what it forgot to include.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_library(plimsoll_standard_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/standard_headers.cc)
  target_precompile_headers(plimsoll_standard_headers PRIVATE
    <algorithm> <array> <chrono> <cmath> <cstdint> <deque> <filesystem> <functional> <map> <memory>
    <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
  target_link_libraries(plimsoll_standard_headers PRIVATE plimsoll_warnings plimsoll_fuzzed)
endif()

# Tests run these for thousands of seeds, and std::regex in jobs to the depth that a stack stands.
set(PLIMSOLL_OPTIMISED_FOLDERS)
if(PLIMSOLL_SANITIZE)
  set(PLIMSOLL_OPTIMISED_FOLDERS base policy sim engine jobs)
endif()

# plimsoll_library(NAME SOURCES file... [USES folder...] [PRIVATE library...])
# The static library of src/NAME. Its headers are included as "NAME/header.h" and found only by the
# libraries that name it in USES, because each folder has an include root of its own.
function(plimsoll_library name)
  cmake_parse_arguments(LIB "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  foreach(used IN LISTS LIB_USES)
    if(NOT used IN_LIST ALLOWED_${name})
      message(FATAL_ERROR "src/${name} may not use src/${used}: see cmake/Dependencies.cmake")
    endif()
  endforeach()
  set(root ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${name} ${root}/${name} SYMBOLIC)
  list(TRANSFORM LIB_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/src/${name}/)
  list(TRANSFORM LIB_USES PREPEND plimsoll_)
  if(NOT LIB_SOURCES)  # headers alone
    add_library(plimsoll_${name} INTERFACE)
    target_include_directories(plimsoll_${name} INTERFACE ${root})
    target_link_libraries(plimsoll_${name} INTERFACE ${LIB_USES})
    return()
  endif()
  add_library(plimsoll_${name} STATIC ${LIB_SOURCES})
  target_include_directories(plimsoll_${name} PUBLIC ${root})
  target_link_libraries(plimsoll_${name}
    PUBLIC ${LIB_USES} PRIVATE plimsoll_warnings plimsoll_fuzzed ${LIB_PRIVATE})
  plimsoll_unity(plimsoll_${name})
  if(name IN_LIST PLIMSOLL_OPTIMISED_FOLDERS)
    target_compile_options(plimsoll_${name} PRIVATE -O1)
  elseif(TARGET plimsoll_standard_headers AND NOT name STREQUAL "rpc")  # whose flags are gRPC's
    target_precompile_headers(plimsoll_${name} REUSE_FROM plimsoll_standard_headers)
  endif()
endfunction()

# plimsoll_link_included(TARGET source...): links the folders whose headers these sources include.
# For tests, to which no table of dependencies applies.
function(plimsoll_link_included target)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} includes REGEX "^#include \"[a-z]+/")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "^#include \"([a-z]+)/.*" "\\1" folder ${include})
      target_link_libraries(${target} PRIVATE plimsoll_${folder})
    endforeach()
  endforeach()
endfunction()
