#include "govern/exec_listener.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <utility>

#include "govern/exec_reader.h"
#include "guardian/exec_filter.h"

namespace plimsoll::govern {
namespace {

// The exec goes on, if it still stands.
void let_go_on(int listener, std::uint64_t id) {
  seccomp_notif_resp answer{};
  answer.id = id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace

ExecListener::ExecListener(loop::Loop& loop, ExecObserver& observer)
    : loop_(loop),
      observer_(observer),
      readers_(loop, *this, read_exec),
      signals_interrupt_(guardian::signals_interrupt_execs()) {}

ExecListener::~ExecListener() = default;

Result<std::unique_ptr<ExecListener>> ExecListener::create(loop::Loop& loop,
                                                           ExecObserver& observer) {
  std::unique_ptr<ExecListener> made(new ExecListener(loop, observer));
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail_errno("make a socket pair");
  }
  made->own_end_ = UniqueFd(ends[0]);
  made->child_end_ = UniqueFd(ends[1]);
  auto watch = loop.watch(ends[0], EPOLLIN,
                          [self = made.get()](std::uint32_t) { self->receive_listener(); });
  if (!watch) return pass(std::move(watch));
  made->watch_ = std::move(*watch);
  return made;
}

// Nothing comes if the child has failed before; that is told by the guardian.
void ExecListener::receive_listener() {
  char byte = 0;
  iovec text{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(own_end_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  const cmsghdr* header = got == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  watch_ = {};
  own_end_ = {};
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  listener_ = UniqueFd(fd);
  auto watch =
      loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { take_notifications(); });
  if (watch) watch_ = std::move(*watch);
}

// A call that would wait is not made: whoever has raised the event and died meanwhile leaves an
// error to be read.
void ExecListener::take_notifications() {
  for (int taken = 0; taken < kTurnMax; ++taken) {
    if (!take_notification()) return;
  }
}

// Whether there may be more.
bool ExecListener::take_notification() {
  pollfd ready{.fd = listener_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, 0) != 1) return false;
  if ((ready.revents & POLLIN) == 0) {
    watch_ = {};  // nobody lives any more who has the filter
    return false;
  }
  seccomp_notif notification{};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) return true;
  readers_.read(notification);
  return true;
}

void ExecListener::on_read(const seccomp_notif& call, Result<std::optional<Exec>> exec) {
  // What was read may be another's, whose pid that is by now.
  std::uint64_t id = call.id;
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0) return;
  const PendingExec pending{id};
  // One may let nobody read it (prctl(2), PR_SET_DUMPABLE); if the first can't be read, none can.
  const bool is_first = !std::exchange(has_heard_, true);
  if (is_first && !exec && exec.error().code == std::errc::operation_not_permitted) {
    observer_.on_blind(exec.error());
  }
  // execvp(3) tries a directory of PATH after the other: nobody else has to hear of that.
  if (is_first) {
    readers_.answer_failing([listener = listener_.get()](const seccomp_notif& failing) {
      let_go_on(listener, failing.id);
    });
  }
  if (!exec || !*exec) {
    answer(pending);
  } else {
    observer_.on_exec(pending, **exec);
  }
}

void ExecListener::answer(PendingExec pending) {
  let_go_on(listener_.get(), static_cast<std::uint64_t>(pending));
}

}  // namespace plimsoll::govern
