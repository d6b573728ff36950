// The program `plimsolld`, which `plimsoll serve` executes.
#include <cstdio>
#include <cstdlib>

#include "args/complaint.h"
#include "base/loop/notify.h"
#include "daemon/daemon.h"
#include "daemon/grpc/quiet.h"
#include "daemon/options.h"
#include "daemon/terms.h"
#include "guardian/guardian.h"

namespace plimsoll::daemon {
namespace {

constexpr int kFailed = 125;

int complain(const Error& error) {
  args::complain("serve: " + error.message());
  return kFailed;
}

// The machine is asked last, so that a file can be looked at where no daemon could run.
int show_config(const LoadedConfig& loaded) {
  auto link = guardian::become_guardian(loop::notify);
  if (!link) return complain(link.error());
  const auto terms = terms_here(std::move(*link), loaded);
  std::fputs((show(loaded) + "\n" + terms.value_or("")).c_str(), stdout);
  return terms ? 0 : complain(terms.error());
}

int serve(int argc, char** argv) {
  ServeOptions options;
  if (const auto status = parse_serve_options(options, argc, argv)) return *status;
  auto config = load_config(options);
  if (!config) return complain(config.error());
  if (options.show_config) return show_config(*config);
  // For all that asks where things are kept; nobody else runs yet who could look.
  const auto& state_dir = config->config.state_dir;
  if (state_dir) ::setenv("PLIMSOLL_STATE_DIR", state_dir->c_str(), 1);
  keep_protobuf_quiet();
  auto link = guardian::become_guardian(loop::notify);
  if (!link) return complain(link.error());
  auto daemon = Daemon::start(std::move(*link), std::move(*config), options);
  if (!daemon) return complain(daemon.error());
  const auto ran = (*daemon)->run();
  if (ran) return 0;
  complain(ran.error());
  std::fflush(nullptr);
  // Calls wait that nobody will answer: their clients are told by the end of the connection.
  std::_Exit(kFailed);
}

}  // namespace
}  // namespace plimsoll::daemon

int main(int argc, char** argv) { return plimsoll::daemon::serve(argc, argv); }
