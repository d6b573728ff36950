include(${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake)

# libFuzzer is told which branches are taken in the rooms of src/; in tests nobody asks.
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

# Tests run these for thousands of seeds.
set(PLIMSOLL_OPTIMISED_ROOMS "^$")
if(PLIMSOLL_SANITIZE)
  set(PLIMSOLL_OPTIMISED_ROOMS "^(base|policy/.*|sim|supervisor|supervisor/[^o].*)$")
endif()

# Each header is compiled by itself, as the target all_verify_interface_header_sets.
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

# plimsoll_library(ROOM SOURCES file... [USES room...] [PUBLIC library...] [PRIVATE library...])
# The static library of src/ROOM, the target plimsoll_WING_ROOM. Its headers are included as
# "ROOM/header.h". It may use what cmake/Dependencies.cmake allows; tools/tidy.py holds its includes
# against the same table. PUBLIC is what its headers include and lies outside of /usr/include.
function(plimsoll_library room)
  cmake_parse_arguments(LIB "" "" "SOURCES;USES;PUBLIC;PRIVATE" ${ARGN})
  foreach(used IN LISTS LIB_USES)
    if(NOT used IN_LIST ALLOWED_${room})
      message(FATAL_ERROR "src/${room} may not use src/${used}: see cmake/Dependencies.cmake")
    endif()
  endforeach()
  string(REPLACE "/" "_" name ${room})
  list(TRANSFORM LIB_USES REPLACE "/" "_")
  list(TRANSFORM LIB_USES PREPEND plimsoll_)
  add_library(plimsoll_${name} STATIC ${LIB_SOURCES})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  target_sources(plimsoll_${name}
    PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src FILES ${headers})
  target_link_libraries(plimsoll_${name}
    PUBLIC ${LIB_USES} ${LIB_PUBLIC} PRIVATE plimsoll_warnings plimsoll_fuzzed ${LIB_PRIVATE})
  plimsoll_unity(plimsoll_${name})
  if(room MATCHES "${PLIMSOLL_OPTIMISED_ROOMS}")
    target_compile_options(plimsoll_${name} PRIVATE -O1)
  elseif(TARGET plimsoll_standard_headers AND NOT room MATCHES "^daemon(/(grpc|api|runner))?$")
    # Those four are compiled with gRPC's flags.
    target_precompile_headers(plimsoll_${name} REUSE_FROM plimsoll_standard_headers)
  endif()
endfunction()

# plimsoll_link_included(TARGET source...): links the rooms whose headers these sources include.
# For tests, to which no table of dependencies applies.
function(plimsoll_link_included target)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} includes REGEX "^#include \"[a-z_/]+/[a-z_0-9]+\\.h\"")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "^#include \"([a-z_/]+)/[a-z_0-9]+\\.h\".*" "\\1" room ${include})
      string(REPLACE "/" "_" room ${room})
      if(TARGET plimsoll_${room})
        target_link_libraries(${target} PRIVATE plimsoll_${room})
      endif()
    endforeach()
  endforeach()
endfunction()
