#include <unistd.h>

// The header does not say itself that this is C.
extern "C" {
#include <libjsonnet.h>
}

#include <memory>
#include <string_view>

#include "base/text.h"
#include "daemon/runner/runner_config.h"

namespace plimsoll::daemon {
namespace {

struct DestroyVm {
  void operator()(JsonnetVm* vm) const { ::jsonnet_destroy(vm); }
};

}  // namespace

Result<std::string> evaluate_jsonnet(const std::string& path) {
  const std::unique_ptr<JsonnetVm, DestroyVm> vm(::jsonnet_make());
  if (!vm) return fail("start Jsonnet");
  for (char** variable = environ; *variable != nullptr; ++variable) {
    std::string_view value = *variable;
    const std::string name(take_until(value, '='));
    ::jsonnet_ext_var(vm.get(), name.c_str(), std::string(value).c_str());
  }
  int failed = 0;
  char* const text = ::jsonnet_evaluate_file(vm.get(), path.c_str(), &failed);
  std::string result = text;
  ::jsonnet_realloc(vm.get(), text, 0);
  if (failed != 0) {
    while (result.ends_with('\n')) result.pop_back();
    return fail(result);
  }
  return result;
}

Result<RunnerConfig> load_runner_config(const std::string& path) {
  auto json = evaluate_jsonnet(path);
  if (!json) return pass(std::move(json));
  auto config = read_runner_config(*json);
  if (!config) return pass(std::move(config), path);
  return config;
}

}  // namespace plimsoll::daemon
