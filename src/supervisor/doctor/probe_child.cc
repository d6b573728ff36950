#include "supervisor/doctor/probe_child.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "supervisor/environment.h"

namespace plimsoll::supervisor {
namespace {

constexpr Duration kSpin = std::chrono::milliseconds(1);
constexpr Duration kTurn = std::chrono::milliseconds(1);

// Waits for its standard input to end, with nothing but what every job needs: the shell.
guardian::SpawnRequest waiting_shell(int input, int output) {
  guardian::SpawnRequest request;
  request.argv = {"/bin/sh", "-c", "read -r line"};
  request.env = environment_with({});
  request.cwd = "/";
  request.session = guardian::Session::own;
  request.descriptors = guardian::Descriptors::close;
  request.signals = guardian::Signals::set_default;
  request.stdio = {input, output, output};
  return request;
}

}  // namespace

Result<bool> turn_until(Supervisor& supervisor, const std::function<bool()>& holds) {
  const Instant began = loop::now();
  while (!holds()) {
    const Duration waited = loop::now() - began;
    if (waited > kProbePatience) return false;
    if (auto ran = supervisor.run_once(waited < kSpin ? Duration{} : kTurn); !ran) {
      return pass(std::move(ran));
    }
  }
  return true;
}

Result<ProbeChild> ProbeChild::start(Supervisor& supervisor, const cgroup::Leaf& leaf) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("make a pipe");
  const UniqueFd input(ends[0]);
  UniqueFd keep(ends[1]);
  auto null = open_at(AT_FDCWD, "/dev/null", O_WRONLY);
  if (!null) return pass(std::move(null));

  guardian::SpawnRequest request = waiting_shell(input.get(), null->get());
  auto told = std::make_unique<Told>();
  Told* const note = told.get();
  auto child = supervisor.spawn_in(leaf, std::move(request), *note);
  if (!child) return pass(std::move(child));

  ProbeChild probe(supervisor, *child, std::move(told), std::move(keep));
  auto settled = turn_until(supervisor, [note] { return note->started || note->failed; });
  if (!settled) return pass(std::move(settled));
  if (!*settled) return fail(std::errc::timed_out, "start /bin/sh in a group");
  if (note->failed) {
    return fail(note->failed->code, "start /bin/sh in a group, step " +
                                        std::string(guardian::name_of(note->failed->step)));
  }
  return probe;
}

ProbeChild::~ProbeChild() {
  if (told_ != nullptr) machine_->forget(child_);
}

}  // namespace plimsoll::supervisor
