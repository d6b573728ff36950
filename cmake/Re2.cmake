# RE2, linked statically where its archive needs nothing but the C++ library: `plimsoll` then starts
# without loading either (src/cli/CMakeLists.txt). From Debian 13 on it stands on some twenty
# libraries of Abseil; there all are the shared ones.
include(CheckCXXSourceCompiles)
add_library(plimsoll_re2 INTERFACE)
find_path(PLIMSOLL_RE2_INCLUDE re2/re2.h REQUIRED)
target_include_directories(plimsoll_re2 SYSTEM INTERFACE ${PLIMSOLL_RE2_INCLUDE})
find_library(PLIMSOLL_RE2_SHARED re2 REQUIRED)
find_library(PLIMSOLL_RE2_ARCHIVE libre2.a)
if(PLIMSOLL_RE2_ARCHIVE)
  set(CMAKE_REQUIRED_INCLUDES ${PLIMSOLL_RE2_INCLUDE})
  set(CMAKE_REQUIRED_LIBRARIES ${PLIMSOLL_RE2_ARCHIVE} Threads::Threads)
  check_cxx_source_compiles(
    "#include <re2/re2.h>\nint main() { return RE2::FullMatch(\"a\", \"a\"); }" PLIMSOLL_RE2_STATIC)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(PLIMSOLL_RE2_STATIC)
  target_link_libraries(plimsoll_re2 INTERFACE ${PLIMSOLL_RE2_ARCHIVE} Threads::Threads)
else()
  target_link_libraries(plimsoll_re2 INTERFACE ${PLIMSOLL_RE2_SHARED})
endif()
