# Messages and services of gRPC, compiled at build time. Only what speaks to others over the network
# links them: the program `plimsoll` does not.
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)

# plimsoll_proto(NAME file.proto...): the library plimsoll_proto_NAME of src/daemon/proto/FILE...;
# its headers are included by the same path ("buildbarn/runner/runner.grpc.pb.h"). What is generated
# is not held to our warnings.
function(plimsoll_proto name)
  set(root ${CMAKE_SOURCE_DIR}/src/daemon/proto)
  set(out ${CMAKE_BINARY_DIR}/proto)
  set(generated)
  foreach(file IN LISTS ARGN)
    string(REGEX REPLACE "\\.proto$" "" stem ${file})
    set(made ${out}/${stem}.pb.cc ${out}/${stem}.pb.h ${out}/${stem}.grpc.pb.cc
      ${out}/${stem}.grpc.pb.h)
    add_custom_command(OUTPUT ${made}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${out}
      COMMAND protobuf::protoc --proto_path=${root} --cpp_out=${out} --grpc_out=${out}
        --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${root}/${file}
      DEPENDS ${root}/${file} VERBATIM)
    list(APPEND generated ${made})
  endforeach()
  add_library(plimsoll_proto_${name} STATIC ${generated})
  target_include_directories(plimsoll_proto_${name} SYSTEM PUBLIC ${out})
  target_compile_options(plimsoll_proto_${name} PRIVATE -w)
  if(PLIMSOLL_SANITIZE)  # not our sources: not looked at, and compiled as fast as may be
    target_compile_options(plimsoll_proto_${name} PRIVATE -fno-sanitize=all -O0 -g0)
  endif()
  target_link_libraries(plimsoll_proto_${name} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
endfunction()
