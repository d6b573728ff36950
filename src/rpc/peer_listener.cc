#include "rpc/peer_listener.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/identity.h"

namespace plimsoll::rpc {
namespace {

constexpr int kBacklog = 128;
constexpr mode_t kForOwner = 0600, kForGroup = 0660;
// Until then somebody may have closed a connection; the loop has other things to do.
constexpr Duration kNoDescriptorPause = std::chrono::seconds(1);
constexpr std::size_t kGroupsMax = 65'536;  // NGROUPS_MAX of Linux

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail("listen at " + path + ": found a path of " + std::to_string(path.size()) +
                " bytes, expected at most " + std::to_string(sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Whether somebody listens there; what nobody does is taken away.
bool is_taken(const std::string& path, const sockaddr_un& address) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) return false;
  if (!S_ISSOCK(about.st_mode)) return true;
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(probe.get(), generic, sizeof address) == 0 || errno != ECONNREFUSED) return true;
  ::unlink(path.c_str());
  return false;
}

}  // namespace

Result<engine::Peer> peer_of(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return fail_errno("ask who connects");
  }
  engine::Peer peer{.where = engine::PeerPlace::local,
                    .uid = who.uid,
                    .gid = who.gid,
                    .pid = who.pid,
                    .groups = {}};
  socklen_t bytes = 0;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &bytes) != 0 && errno != ERANGE) {
    return fail_errno("ask for the groups of who connects");
  }
  peer.groups.resize(std::min(bytes / sizeof(gid_t), kGroupsMax));
  if (!peer.groups.empty() &&
      ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &bytes) != 0) {
    return fail_errno("ask for the groups of who connects");
  }
  return peer;
}

Result<std::unique_ptr<PeerListener>> PeerListener::start(
    loop::Loop& loop, const PeerListenerConfig& config,
    std::function<void(UniqueFd, const engine::Peer&)> accepted) {
  std::unique_ptr<PeerListener> made(new PeerListener());
  made->accepted_ = std::move(accepted);
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
  const auto address = address_of(config.path);
  if (!address) return fail(address.error().what);
  if (config.group) {
    auto group = engine::find_group(*config.group);
    if (!group) return pass(std::move(group));
    group_ = *group;
  }
  if (is_taken(config.path, *address)) {
    return fail(std::errc::address_in_use, "listen at " + config.path);
  }
  socket_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return fail_errno("make a socket");
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  // Closed to others from its first moment: the mode is that of the socket before it is bound.
  if (::fchmod(socket_.get(), kForOwner) != 0) return fail_errno("close " + config.path);
  if (::bind(socket_.get(), generic, sizeof *address) != 0) {
    return fail_errno("listen at " + config.path);
  }
  path_ = config.path;
  if (group_) {
    if (::chown(path_.c_str(), static_cast<uid_t>(-1), *group_) != 0) {
      return fail_errno("give " + path_ + " to the group " + *config.group);
    }
    if (::chmod(path_.c_str(), kForGroup) != 0) return fail_errno("open " + path_);
  }
  if (::listen(socket_.get(), kBacklog) != 0) return fail_errno("listen at " + path_);
  return {};
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
  accepted_(std::move(fd), *peer);
}

// The socket's mode says the same, unless somebody has changed it.
bool PeerListener::may_come(const engine::Peer& peer) const {
  if (peer.uid == 0 || peer.uid == ::geteuid()) return true;
  if (!group_) return false;
  return peer.gid == *group_ ||
         std::find(peer.groups.begin(), peer.groups.end(), *group_) != peer.groups.end();
}

}  // namespace plimsoll::rpc
