# libbpf with what it needs, linked statically where that can be: the program then starts without
# loading three libraries for the one feature, and runs on hosts that have none of them. Debian 13's
# libelf.a lacks functions of elfutils that no package has (sourceware.org bug 32293): there libelf,
# and the libz that it loads, are the shared ones.
include(CheckCXXSourceCompiles)
add_library(plimsoll_bpf INTERFACE)
find_path(LIBBPF_INCLUDE_DIR bpf/bpf.h REQUIRED)
target_include_directories(plimsoll_bpf SYSTEM INTERFACE ${LIBBPF_INCLUDE_DIR})
foreach(name bpf elf z)
  find_library(LIB${name} NAMES lib${name}.a ${name} REQUIRED)
endforeach()
set(CMAKE_REQUIRED_INCLUDES ${LIBBPF_INCLUDE_DIR})
set(CMAKE_REQUIRED_LIBRARIES ${LIBbpf} ${LIBelf} ${LIBz})
check_cxx_source_compiles(
  "#include <bpf/libbpf.h>\nint main() { bpf_object__open(\"\"); }" LIBELF_COMPLETE)
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(LIBELF_COMPLETE)
  target_link_libraries(plimsoll_bpf INTERFACE ${LIBbpf} ${LIBelf} ${LIBz})
else()
  target_link_libraries(plimsoll_bpf INTERFACE ${LIBbpf} elf z)
endif()
