#include "daemon/grpc/user_servers.h"

#include <grpcpp/resource_quota.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "daemon/grpc/awake.h"

namespace plimsoll::daemon {
namespace {

std::shared_ptr<UserShare> new_share(policy::Tenant user) {
  auto share = std::make_shared<UserShare>();
  share->memory = std::make_shared<grpc::ResourceQuota>();
  share->memory->Resize(UserServers::kMemoryOfUserMax);
  share->calls_max = user == policy::kHost ? SIZE_MAX : UserServers::kCallsOfUserMax;
  return share;
}

std::vector<std::uint32_t> key_of(const supervisor::Peer& peer) {
  std::vector<std::uint32_t> key = {peer.uid, peer.gid};
  key.insert(key.end(), peer.groups.begin(), peer.groups.end());
  return key;
}

}  // namespace

// A server in its place: one that is being made, or is there.
struct UserServers::Place {
  explicit Place(std::shared_ptr<UserShare> share)
      : server(std::make_shared<UserServer>(std::move(share))) {}

  void close() const {
    if (is_made) server->close();
  }
  [[nodiscard]] bool is_busy() const { return !is_made || !waiting.empty() || server->calls() > 0; }

  std::shared_ptr<UserServer> server;  // until it is made, only its builder touches it
  bool is_made = false;
  std::deque<UniqueFd> waiting;  // connections that it has not taken yet
  std::uint64_t connected = 0;   // the number of the last connection
};

UserServers::UserServers(const loop::Loop& loop, UserServicesMaker& maker)
    : awake_(std::make_unique<Awake>()),
      loop_(loop),
      maker_(maker),
      retirer_(loop),
      builder_(loop) {}

UserServers::~UserServers() {
  for (const auto& [user, place] : places_) place->close();
  if (tls_) tls_->close();
  retirer_.drain();
}

UserServer::Health UserServers::health() const {
  return is_draining_ ? UserServer::Health::not_serving : UserServer::Health::serving;
}

Result<void> UserServers::accept(UniqueFd connection, const supervisor::Peer& peer) {
  const policy::Tenant user = supervisor::tenant_of(peer);
  auto found = place_for_one_more(connection.get(), peer);
  if (!found) {
    closer_.close(user, std::move(connection));
    return pass(std::move(found));
  }
  Place& place = **found;
  place.connected = ++connections_;
  if (place.is_made && place.waiting.empty()) {
    place.server->take(std::move(connection));
  } else {
    place.waiting.push_back(std::move(connection));
  }
  return {};
}

Result<UserServers::Place*> UserServers::place_for_one_more(int socket,
                                                            const supervisor::Peer& peer) {
  auto counted = count_connection(socket, supervisor::tenant_of(peer));
  if (!counted) return pass(std::move(counted));
  return place_for(peer);
}

Result<UserServers::Place*> UserServers::place_for(const supervisor::Peer& peer) {
  const Key key = key_of(peer);
  if (const auto found = places_.find(key); found != places_.end()) return found->second.get();
  if (auto room = make_room(peer); !room) return pass(std::move(room));
  auto place = std::make_unique<Place>(share_of(peer));
  auto built = std::make_shared<Result<void>>();
  builder_.submit([server = place->server, built, peer,
                   &maker = maker_] { *built = server->build(maker.make(peer)); },
                  [self = std::weak_ptr(self_), built, key, user = supervisor::tenant_of(peer)] {
                    if (const auto alive = self.lock()) (*alive)->made(key, user, *built);
                  });
  return places_.emplace(key, std::move(place)).first->second.get();
}

// Nobody retires a server that is being made.
void UserServers::made(const Key& key, policy::Tenant user, const Result<void>& built) {
  const auto found = places_.find(key);
  if (!built) {
    for (UniqueFd& connection : found->second->waiting) closer_.close(user, std::move(connection));
    places_.erase(found);
    return maker_.turned_away(
        Error(built.error()).within("refuse uid " + std::to_string(key.front())));
  }
  found->second->is_made = true;
  found->second->server->tell_health(health());
  hand_over(key);
}

// One connection in a turn of the loop: there may be hundreds.
void UserServers::hand_over(const Key& key) {
  Place& place = *places_.at(key);
  place.server->take(std::move(place.waiting.front()));
  place.waiting.pop_front();
  if (place.waiting.empty()) return;
  loop_.poster()([self = std::weak_ptr(self_), key] {
    if (const auto alive = self.lock()) (*alive)->hand_over(key);
  });
}

std::size_t UserServers::waiting() const {
  std::size_t connections = 0;
  for (const auto& [key, place] : places_) connections += place->waiting.size();
  return connections;
}

std::map<std::uint32_t, UserServers::OfUid> UserServers::by_uid() const {
  std::map<std::uint32_t, OfUid> known;
  for (const auto& [key, place] : places_) {
    OfUid& of_uid = known[key.front()];
    ++of_uid.servers;
    if (place->is_busy()) ++of_uid.busy;
    of_uid.connected = std::max(of_uid.connected, place->connected);
  }
  return known;
}

Result<void> UserServers::make_room(const supervisor::Peer& peer) {
  const auto known = by_uid();
  const auto own = known.find(peer.uid);
  const std::string who = "refuse uid " + std::to_string(peer.uid) + ": found ";
  if (own != known.end() && own->second.servers >= kOfUidMax) {
    if (retire_one({peer.uid})) return {};
    return fail(who + std::to_string(kOfUidMax) +
                " servers of this user already, one for each set of groups");
  }
  const bool is_host = supervisor::tenant_of(peer) == policy::kHost;
  if (own == known.end()) {
    if (known.size() < kUsersMax || retire_user() || is_host) return {};
    return fail(who + std::to_string(kUsersMax) + " users already");
  }
  if (places_.size() - known.size() < kFurtherMax) return {};
  std::set<std::uint32_t> with_further;
  for (const auto& [uid, his] : known) {
    if (his.servers > 1) with_further.insert(uid);
  }
  if (retire_one(with_further) || is_host) return {};
  return fail(who + std::to_string(kFurtherMax) +
              " further servers already, for users with several sets of groups");
}

// Of one user that is known, or a new one.
std::shared_ptr<UserShare> UserServers::share_of(const supervisor::Peer& peer) const {
  const auto known = std::find_if(places_.begin(), places_.end(), [&peer](const auto& one) {
    return one.first.front() == peer.uid;
  });
  if (known != places_.end()) return known->second->server->share();
  return new_share(supervisor::tenant_of(peer));
}

bool UserServers::Connection::is_open() const {
  struct stat about{};
  return ::fstat(number, &about) == 0 && about.st_ino == socket;
}

Result<void> UserServers::count_connection(int socket, policy::Tenant user) {
  const auto of_user = [&] {
    return static_cast<std::size_t>(std::count_if(
        open_.begin(), open_.end(), [user](const auto& known) { return known.user == user; }));
  };
  const auto is_full = [&] {
    return of_user() >= kConnectionsOfUserMax ||
           (user != policy::kHost && open_.size() >= kConnectionsMax);
  };
  if (is_full()) std::erase_if(open_, [](const Connection& known) { return !known.is_open(); });
  if (is_full()) {
    return fail("refuse a connection of user " + std::to_string(static_cast<std::uint32_t>(user)) +
                ": found " + std::to_string(of_user()) + " of this user and " +
                std::to_string(open_.size()) + " in all, expected fewer than " +
                std::to_string(kConnectionsOfUserMax) + " and " + std::to_string(kConnectionsMax));
  }
  struct stat about{};
  if (::fstat(socket, &about) != 0) return fail_errno("examine a connection");
  open_.push_back({.number = socket, .socket = about.st_ino, .user = user});
  return {};
}

bool UserServers::retire_one(const std::set<std::uint32_t>& uids) {
  auto oldest = places_.end();
  for (auto it = places_.begin(); it != places_.end(); ++it) {
    if (it->second->is_busy() || !uids.contains(it->first.front())) continue;
    if (oldest == places_.end() || it->second->connected < oldest->second->connected) oldest = it;
  }
  if (oldest == places_.end() || *retiring_ >= kRetiringMax) return false;
  retire(oldest);
  return true;
}

bool UserServers::retire_user() {
  const auto known = by_uid();
  auto oldest = known.end();
  for (auto it = known.begin(); it != known.end(); ++it) {
    if (it->second.busy > 0) continue;
    if (oldest == known.end() || it->second.connected < oldest->second.connected) oldest = it;
  }
  if (oldest == known.end() || *retiring_ + oldest->second.servers > kRetiringMax) return false;
  for (auto it = places_.begin(); it != places_.end();) {
    const auto one = it++;
    if (one->first.front() == oldest->first) retire(one);
  }
  return true;
}

// Its clients' connections are closed; a client of gRPC makes another with its next call.
void UserServers::retire(Places::iterator gone) {
  std::shared_ptr<UserServer> going = std::move(gone->second->server);
  places_.erase(gone);
  // A call may have come since the look.
  going->close();
  ++*retiring_;
  retirer_.submit([going = std::move(going)]() mutable { going.reset(); },
                  [retiring = retiring_] { --*retiring; });
}

Result<void> UserServers::serve_tls(const TlsTexts& tls,
                                    std::shared_ptr<TlsConnections> connections) {
  auto server = std::make_unique<UserServer>(new_share(policy::kHost));
  auto built =
      server->build_tls(maker_.make(supervisor::Peer{.where = supervisor::PeerPlace::remote}), tls,
                        std::move(connections));
  if (!built) return built;
  server->tell_health(health());
  tls_ = std::move(server);
  return {};
}

void UserServers::accept_tls(UniqueFd connection) { tls_->take(std::move(connection)); }

void UserServers::drain() {
  is_draining_ = true;
  for (const auto& [user, place] : places_) {
    if (place->is_made) place->server->tell_health(health());
  }
  if (tls_) tls_->tell_health(health());
}

}  // namespace plimsoll::daemon
