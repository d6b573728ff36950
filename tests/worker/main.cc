// A scripted worker of Buildbarn's. What it prints is JSON, a line for each call.
//
//   test_worker ADDRESS check PATH
//   test_worker ADDRESS run [NAME=VALUE...] -- ARGUMENT...
//   test_worker ADDRESS load BUILD THREADS COUNT -- ARGUMENT...
//   test_worker ADDRESS cancel BUILD COUNT
//
// NAMEs of `run` are fields of a RunRequest (`id` sets them all as a worker does for that
// directory), `timeout` in seconds, `fill` for one more argument of so many bytes, and `env.X` for
// a variable.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cancel.h"
#include "client.h"
#include "load.h"

namespace plimsoll::testing {
namespace {

constexpr int kUsage = 2;

struct Order {
  buildbarn::runner::RunRequest request;
  std::optional<double> timeout;
  std::size_t fill = 0;
};

void lay_out(buildbarn::runner::RunRequest& request, const std::string& id) {
  request.set_stdout_path(id + "/stdout");
  request.set_stderr_path(id + "/stderr");
  request.set_input_root_directory(id + "/root");
  request.set_temporary_directory(id + "/tmp");
  request.set_server_logs_directory(id + "/server_logs");
}

// `%00` stands for the byte that no argument can hold.
std::string unescape(std::string value) {
  constexpr std::string_view kNul = "%00";
  for (std::size_t at = value.find(kNul); at != std::string::npos; at = value.find(kNul)) {
    value.replace(at, kNul.size(), 1, '\0');
  }
  return value;
}

bool set(Order& order, const std::string& name, const std::string& value) {
  auto& request = order.request;
  if (name == "id") {
    lay_out(request, value);
  } else if (name == "timeout") {
    order.timeout = to_double(value);
  } else if (name == "fill") {
    order.fill = to_u64(value).value_or(0);
  } else if (name.starts_with("env.")) {
    (*request.mutable_environment_variables())[name.substr(4)] = value;
  } else if (name == "working_directory") {
    request.set_working_directory(value);
  } else if (name == "stdout_path") {
    request.set_stdout_path(value);
  } else if (name == "stderr_path") {
    request.set_stderr_path(value);
  } else if (name == "input_root_directory") {
    request.set_input_root_directory(value);
  } else if (name == "temporary_directory") {
    request.set_temporary_directory(value);
  } else if (name == "server_logs_directory") {
    request.set_server_logs_directory(value);
  } else {
    return false;
  }
  return true;
}

int run_words(Runner::Stub& stub, const std::vector<std::string>& words) {
  Order order;
  std::size_t at = 0;
  for (; at < words.size() && words[at] != "--"; ++at) {
    std::string_view rest = words[at];
    const std::string name(take_until(rest, '='));
    if (!set(order, name, unescape(std::string(rest)))) return kUsage;
  }
  for (++at; at < words.size(); ++at) order.request.add_arguments(unescape(words[at]));
  if (order.fill > 0) order.request.add_arguments(std::string(order.fill, 'x'));
  const Outcome outcome = run(stub, order.request, order.timeout);
  std::puts(text_of(outcome).c_str());
  return 0;
}

int work(const std::vector<std::string>& words) {
  if (words.size() < 2) return kUsage;
  const std::string& verb = words[1];
  const auto stub = connect(words[0]);
  if (verb == "check" && words.size() == 3) {
    std::puts(text_of({.status = check(*stub, unescape(words[2])), .response = {}}).c_str());
    return 0;
  }
  if (verb == "run") return run_words(*stub, {words.begin() + 2, words.end()});
  if (verb == "load" && words.size() > 6) {
    return load({.address = words[0],
                 .build = words[2],
                 .threads = static_cast<unsigned>(to_u64(words[3]).value_or(1)),
                 .count = static_cast<unsigned>(to_u64(words[4]).value_or(1)),
                 .arguments = {words.begin() + 6, words.end()}});
  }
  if (verb == "cancel" && words.size() == 4) {
    return cancel(*stub, words[2], static_cast<unsigned>(to_u64(words[3]).value_or(1)));
  }
  return kUsage;
}

}  // namespace
}  // namespace plimsoll::testing

int main(int argc, char** argv) {
  const int status = plimsoll::testing::work({argv + 1, argv + argc});
  if (status == plimsoll::testing::kUsage) std::fputs("see the head of main.cc\n", stderr);
  return status;
}
