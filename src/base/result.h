#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>

namespace plimsoll {

// Why an operation could not be done.
//
// `what` names the operation and its object ("open memory.max of job-3"), never the text of the
// error number: message() adds that once. Context is put in front on the way up, by within().
struct Error {
  std::errc code{};
  std::string what{};

  // The group, process or file went away between two system calls. Every reader here meets this in
  // normal operation, so it has a name and callers handle it.
  [[nodiscard]] bool gone() const {
    return code == std::errc::no_such_file_or_directory || code == std::errc::no_such_device ||
           code == std::errc::no_such_process;
  }

  [[nodiscard]] Error within(std::string_view outer) && {
    what = std::string(outer) + ": " + what;
    return std::move(*this);
  }

  // "open memory.max of job-3: Permission denied"; without a code, `what` alone.
  [[nodiscard]] std::string message() const {
    return code == std::errc{} ? what : what + ": " + std::make_error_code(code).message();
  }
};

// A value, or the Error that says why there is none. tl::expected is not [[nodiscard]]; this is,
// and nothing else is added.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(std::errc code, std::string what) {
  return tl::unexpected(Error{.code = code, .what = std::move(what)});
}

// For a fault that no error number describes: bad input, a broken rule. `what` is the whole
// message.
inline tl::unexpected<Error> fail(std::string what) {
  return tl::unexpected(Error{.code = {}, .what = std::move(what)});
}

// Reads errno: call it first thing after the system call that failed.
inline tl::unexpected<Error> fail_errno(std::string what) {
  return fail(static_cast<std::errc>(errno), std::move(what));
}

// Hands the error of `result` on to the caller.
template <class T>
tl::unexpected<Error> pass(Result<T>&& result) {
  return tl::unexpected(std::move(result).error());
}

template <class T>
tl::unexpected<Error> pass(Result<T>&& result, std::string_view outer) {
  return tl::unexpected(std::move(result).error().within(outer));
}

}  // namespace plimsoll
