# The warnings of every library and program of ours; errors in CI only, as other
# versions of a compiler warn of other things.
add_library(plimsoll_warnings INTERFACE)
target_compile_options(plimsoll_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wswitch-enum
  -Wnon-virtual-dtor -Wold-style-cast -Wundef)
if(PLIMSOLL_WERROR)
  target_compile_options(plimsoll_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns falsely at -O2 about overlapping and overlong copies in plain std::string code.
  # AddressSanitizer finds the true ones.
  target_compile_options(plimsoll_warnings INTERFACE
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
  # And at -O3 about memory that plain std::vector code frees.
  string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(plimsoll_warnings INTERFACE -Wthread-safety)
endif()
if(PLIMSOLL_SANITIZE)
  # Lines are what their reports need, and are told in a tenth less of a compilation.
  string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_DEBUG "${CMAKE_CXX_FLAGS_DEBUG}")
  # What the sanitizers find ends the program: a test that only prints it would pass.
  add_compile_options(
    -fsanitize=${PLIMSOLL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_definitions(_GLIBCXX_ASSERTIONS PLIMSOLL_SANITIZED)
  add_link_options(-fsanitize=${PLIMSOLL_SANITIZE})
endif()
