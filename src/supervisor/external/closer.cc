#include "supervisor/external/closer.h"

#include <sys/socket.h>

#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/loop/unix_socket.h"

namespace plimsoll::supervisor {
namespace {

// Sockets that wait in sockets, as deep as the kernel lets them (MAX_RECURSION_LEVEL).
constexpr int kDepthMax = 5;
// More than a socket's buffer has room for.
constexpr int kPacketsMax = 1024;

bool is_unix_socket(const UniqueFd& fd) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

// What waits in a socket would be closed by the kernel along with it, and linger.
void close_without_linger(UniqueFd fd, int depth) {
  const linger none{.l_onoff = 1, .l_linger = 0};
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none) != 0) return;
  if (depth == kDepthMax || !is_unix_socket(fd)) return;
  std::array<char, 4096> bytes{};
  for (int i = 0; i < kPacketsMax; ++i) {
    auto sent = loop::receive(fd.get(), bytes, MSG_DONTWAIT);
    if (!sent || (sent->bytes == 0 && sent->fds.empty())) return;
    for (UniqueFd& inner : sent->fds) close_without_linger(std::move(inner), depth + 1);
  }
}

}  // namespace

// Outlives the closer as long as a thread has something in hand.
class Closer::State : public std::enable_shared_from_this<State> {
 public:
  void add(policy::Tenant user, std::vector<UniqueFd> fds) {
    const std::scoped_lock lock(mutex_);
    waiting_ += fds.size();
    User& queue = users_[user];
    for (UniqueFd& fd : fds) queue.fds.push_back(std::move(fd));
    start();
  }
  [[nodiscard]] std::size_t waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting_;
  }

 private:
  struct User {
    std::deque<UniqueFd> fds;
    bool is_served = false;  // by a thread
  };

  // Where no thread can be had, the next call tries again.
  void start() {
    if (threads_ == kThreadsMax || next() == users_.end()) return;
    try {
      std::thread([self = shared_from_this()] { self->run(); }).detach();
    } catch (const std::system_error&) {
      return;
    }
    ++threads_;
  }

  std::map<policy::Tenant, User>::iterator next() {
    auto user = users_.begin();
    while (user != users_.end() && user->second.is_served) ++user;
    return user;
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (auto user = next(); user != users_.end(); user = next()) {
      user->second.is_served = true;
      while (!user->second.fds.empty()) {
        UniqueFd fd = std::move(user->second.fds.front());
        user->second.fds.pop_front();
        lock.unlock();
        close_without_linger(std::move(fd), 0);
        lock.lock();
        --waiting_;
      }
      users_.erase(user);
    }
    --threads_;
  }

  mutable std::mutex mutex_;  // of all below
  std::map<policy::Tenant, User> users_;
  std::size_t waiting_ = 0;
  std::size_t threads_ = 0;
};

Closer::Closer() : state_(std::make_shared<State>()) {}

void Closer::close(policy::Tenant user, std::vector<UniqueFd> fds) {
  if (user != policy::kHost && !fds.empty()) state_->add(user, std::move(fds));
}

// Whoever is at the other end of a connection sees at once that it is over, and sends no more.
void Closer::close(policy::Tenant user, UniqueFd fd) {
  ::shutdown(fd.get(), SHUT_RDWR);
  std::vector<UniqueFd> fds;
  fds.push_back(std::move(fd));
  close(user, std::move(fds));
}

std::size_t Closer::waiting() const { return state_->waiting(); }

}  // namespace plimsoll::supervisor
