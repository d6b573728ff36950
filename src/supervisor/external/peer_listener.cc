#include "supervisor/external/peer_listener.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "supervisor/identity.h"

namespace plimsoll::supervisor {
namespace {

constexpr mode_t kForGroup = 0660;
// Until then somebody may have closed a connection; the loop has other things to do.
constexpr Duration kNoDescriptorPause = std::chrono::seconds(1);
constexpr std::size_t kGroupsMax = 65'536;  // NGROUPS_MAX of Linux

}  // namespace

Result<Peer> peer_of(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return fail_errno("read the credentials of a client");
  }
  Peer peer{
      .where = PeerPlace::local, .uid = who.uid, .gid = who.gid, .pid = who.pid, .groups = {}};
  socklen_t bytes = 0;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &bytes) != 0 && errno != ERANGE) {
    return fail_errno("read the groups of a client");
  }
  peer.groups.resize(std::min(bytes / sizeof(gid_t), kGroupsMax));
  if (!peer.groups.empty() &&
      ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &bytes) != 0) {
    return fail_errno("read the groups of a client");
  }
  return peer;
}

Result<std::unique_ptr<PeerListener>> PeerListener::start(loop::Loop& loop,
                                                          const PeerListenerConfig& config,
                                                          ConnectionTaker& taker) {
  std::unique_ptr<PeerListener> made(new PeerListener(taker));
  if (auto listens = made->listen(config); !listens) return pass(std::move(listens));
  PeerListener& self = *made;
  auto watch = loop.watch(self.socket_.get(), EPOLLIN, [&self](std::uint32_t) { self.accept(); });
  if (!watch) return pass(std::move(watch));
  made->watch_ = std::move(*watch);
  made->pause_ = loop.timer([&self] { self.watch_.wait_for(EPOLLIN); });
  return made;
}

PeerListener::~PeerListener() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<void> PeerListener::listen(const PeerListenerConfig& config) {
  if (config.group) {
    auto group = find_group(*config.group);
    if (!group) return pass(std::move(group));
    group_ = *group;
  }
  auto socket = loop::listen_at_path(config.path, config.kind);
  if (!socket) return pass(std::move(socket));
  socket_ = std::move(*socket);
  path_ = config.path;
  if (!group_) return {};
  if (::chown(path_.c_str(), static_cast<uid_t>(-1), *group_) != 0) {
    return fail_errno("give " + path_ + " to the group " + *config.group);
  }
  return ::chmod(path_.c_str(), kForGroup) == 0 ? Result<void>() : fail_errno("open " + path_);
}

// One at a time: the loop comes back for the next.
void PeerListener::accept() {
  UniqueFd fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
    watch_.wait_for(0);
    return pause_.set(loop::now() + kNoDescriptorPause);
  }
  auto peer = peer_of(fd.get());
  if (!peer || !may_come(*peer)) {
    ++refused_;
    return;
  }
  if (!pace_.may_come(peer->uid, loop::now())) {
    ++refused_;
    taker_.turn_away(fd.get());
    return closer_.close(tenant_of(*peer), std::move(fd));
  }
  taker_.take(std::move(fd), *peer);
}

// The socket's mode says the same, unless somebody has changed it.
bool PeerListener::may_come(const Peer& peer) const {
  if (peer.uid == 0 || peer.uid == ::geteuid()) return true;
  if (!group_) return false;
  return peer.gid == *group_ ||
         std::find(peer.groups.begin(), peer.groups.end(), *group_) != peer.groups.end();
}

}  // namespace plimsoll::supervisor
