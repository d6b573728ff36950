# libbpf with what it needs, linked statically: the program then starts without loading three
# libraries for the one feature, and runs on hosts that have none of them.
add_library(plimsoll_bpf INTERFACE)
find_path(LIBBPF_INCLUDE_DIR bpf/bpf.h REQUIRED)
target_include_directories(plimsoll_bpf SYSTEM INTERFACE ${LIBBPF_INCLUDE_DIR})
foreach(name bpf elf z)
  find_library(LIB${name}_STATIC NAMES lib${name}.a REQUIRED)
  target_link_libraries(plimsoll_bpf INTERFACE ${LIB${name}_STATIC})
endforeach()
