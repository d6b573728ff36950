#include "daemon/runner/json_mistake.h"

#include "base/text.h"

namespace plimsoll::daemon {
namespace {

using std::string_view;

constexpr string_view kInvalid = ": invalid value ";
constexpr string_view kForType = " for type ";

// "grpc_servers[0].listen_paths" as the file most likely has it: "grpcServers[0].listenPaths".
std::string in_camel_case(string_view path) {
  std::string text;
  bool is_next_large = false;
  for (const char c : path) {
    if (c == '_') {
      is_next_large = true;
      continue;
    }
    text += is_next_large && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    is_next_large = false;
  }
  return text;
}

std::string expected(string_view type) {
  if (type == "TYPE_STRING") return "a string";
  if (type == "TYPE_BOOL") return "true or false";
  if (type == "TYPE_UINT32" || type == "TYPE_UINT64") return "a whole number, not negative";
  if (type == "TYPE_INT32" || type == "TYPE_INT64") return "a whole number";
  return type.starts_with("type.googleapis.com/") ? "an object" : std::string(type);
}

// "(PATH): invalid value V for type T"; of an object where a single value belongs, the field is
// what is called the type.
std::string invalid_value(string_view path, string_view rest) {
  const std::size_t end = rest.rfind(kForType);
  if (end == string_view::npos) return {};
  const string_view type = rest.substr(end + kForType.size());
  if (path.empty()) return in_camel_case(type) + ": found an object, expected a single value";
  return in_camel_case(path) + ": found " + std::string(rest.substr(0, end)) + ", expected " +
         expected(type);
}

}  // namespace

std::string mistake_in_words(string_view told) {
  string_view rest = told;
  string_view path;
  if (rest.starts_with('(')) {
    rest.remove_prefix(1);
    path = take_until(rest, ')');
  }
  if (rest.starts_with(kInvalid)) {
    const std::string text = invalid_value(path, rest.substr(kInvalid.size()));
    return text.empty() ? std::string(told) : text;
  }
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const string_view name = take_until(rest, ':');
  const std::string place =
      in_camel_case(path) + (path.empty() ? "" : ".") + in_camel_case(trim(name));
  if (rest.find("Cannot find field") != string_view::npos) return place + ": no such setting";
  if (rest.find("not repeating") != string_view::npos) {
    return place + ": found a list, expected a single value";
  }
  if (rest.find("Root element") != string_view::npos) return "found no object, expected one";
  return std::string(told);
}

}  // namespace plimsoll::daemon
