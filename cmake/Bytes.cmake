# Writes SOURCE, C++ that defines FUNCTION of HEADER: the bytes of FILE. For Embed.cmake.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX MATCHALL "^(.*)::([a-z_]+)$" whole ${FUNCTION})
file(WRITE ${SOURCE} "#include \"${HEADER}\"

namespace ${CMAKE_MATCH_1} {
namespace {
constexpr unsigned char kBytes[] = {${bytes}};
}  // namespace

std::string_view ${CMAKE_MATCH_2}() {
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}

}  // namespace ${CMAKE_MATCH_1}
")
