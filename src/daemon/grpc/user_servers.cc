#include "daemon/grpc/user_servers.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "base/may_wait.h"
#include "daemon/grpc/awake.h"
#include "daemon/grpc/tls_connections.h"
#include "grpc/health/v1/health.pb.h"

namespace plimsoll::daemon {
namespace {

// So long calls may still end by themselves before they are broken off.
constexpr auto kCallsPatience = std::chrono::milliseconds(200);
// Of one connection; more wait at the client.
constexpr int kStreamsOfConnectionMax = 1000;
// A client on another machine that is gone without a word is noticed after both.
constexpr int kKeepAliveMs = 20'000, kKeepAliveAnswerMs = 10'000;
// Over TCP a connection without a call is a stranger's, then one of few.
constexpr int kHandshakeMs =
    std::chrono::duration_cast<std::chrono::milliseconds>(TlsConnections::kStrangerTime).count();
constexpr int kIdleMs = 300'000;

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;
using AcceptorType = grpc::ServerBuilder::experimental_type::ExternalConnectionType;

// Counts the calls of a server that are open.
class CallCounter : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  using Count = std::shared_ptr<std::atomic<std::size_t>>;
  explicit CallCounter(Count count) : count_(std::move(count)) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* /*info*/) override {
    return std::make_unique<Call>(count_).release();  // gRPC's, until the call is over
  }

 private:
  class Call : public grpc::experimental::Interceptor {
   public:
    explicit Call(Count count) : count_(std::move(count)) { ++*count_; }
    ~Call() override { --*count_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
      methods->Proceed();
    }

   private:
    Count count_;
  };
  Count count_;
};

// Tells whose each call is. Is in the way of none.
class CertificateWatcher : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CertificateWatcher(std::shared_ptr<TlsConnections> connections)
      : connections_(std::move(connections)) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return std::make_unique<Call>(*info, connections_).release();  // gRPC's
  }

 private:
  class Call : public grpc::experimental::Interceptor {
   public:
    Call(grpc::experimental::ServerRpcInfo& info, std::shared_ptr<TlsConnections> connections)
        : info_(info), connections_(std::move(connections)) {}
    // Before the call's service. At its creation a call of reflection has no connection yet.
    void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
      using Point = grpc::experimental::InterceptionHookPoints;
      if (methods->QueryInterceptionHookPoint(Point::POST_RECV_INITIAL_METADATA)) {
        const grpc::ServerContextBase& call = *info_.server_context();
        const auto who = call.auth_context();
        connections_->called(call.peer(), who ? name_of(*who) : std::string());
      }
      methods->Proceed();
    }

   private:
    grpc::experimental::ServerRpcInfo& info_;
    std::shared_ptr<TlsConnections> connections_;
  };

  // The subject's common name, and its other names.
  static std::string name_of(const grpc::AuthContext& who) {
    std::string name;
    auto names = who.FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME);
    const auto others = who.FindPropertyValues(GRPC_X509_SAN_PROPERTY_NAME);
    names.insert(names.end(), others.begin(), others.end());
    for (const grpc::string_ref& each : names) name.append(each.data(), each.size()) += '\n';
    return name;
  }

  std::shared_ptr<TlsConnections> connections_;
};

// A server that accepts nothing by itself does not tell that its credentials are none. This one
// listens for a moment, at a name in no directory.
bool can_be_used(const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("unix-abstract:plimsoll-tls-" + std::to_string(::getpid()), credentials,
                           &port);
  const auto server = builder.BuildAndStart();
  return server && port != 0;
}

void configure(grpc::ServerBuilder& builder, const UserServices& services) {
  grpc::EnableDefaultHealthCheckService(true);
  static const bool with_reflection = [] {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    // The health service is gRPC's own, and described nowhere else.
    google::protobuf::LinkMessageReflection<grpc::health::v1::HealthCheckRequest>();
    return true;
  }();
  static_cast<void>(with_reflection);
  builder.SetMaxReceiveMessageSize(UserServers::kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfConnectionMax);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepAliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepAliveAnswerMs);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  for (grpc::Service* service : services.services) builder.RegisterService(service);
}

std::shared_ptr<grpc::ResourceQuota> new_memory() {
  auto memory = std::make_shared<grpc::ResourceQuota>();
  memory->Resize(UserServers::kMemoryOfUserMax);
  return memory;
}

std::vector<std::uint32_t> key_of(const supervisor::Peer& peer) {
  std::vector<std::uint32_t> key = {peer.uid, peer.gid};
  key.insert(key.end(), peer.groups.begin(), peer.groups.end());
  return key;
}

}  // namespace

struct UserServers::Server {
  explicit Server(UserServices with) : services(std::move(with)) {}
  ~Server() {
    if (!server) return;
    may_wait("the end of a user's server");
    server->Shutdown(std::chrono::system_clock::now() + kCallsPatience);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void close() const {
    if (services.close) services.close();
  }

  void tell_health(bool serving) {
    grpc::HealthCheckServiceInterface* health = server->GetHealthCheckService();
    if (health == nullptr) return;
    for (const std::string& name : services.names) health->SetServingStatus(name, serving);
    health->SetServingStatus("", serving);
  }

  void bound_memory(grpc::ServerBuilder& builder, std::shared_ptr<grpc::ResourceQuota> most) {
    memory = std::move(most);
    builder.SetResourceQuota(*memory);
  }

  void count_calls(grpc::ServerBuilder& builder) const {
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> counters;
    counters.push_back(std::make_unique<CallCounter>(calls));
    builder.experimental().SetInterceptorCreators(std::move(counters));
  }

  UserServices services;  // outlives the server
  const CallCounter::Count calls = std::make_shared<std::atomic<std::size_t>>(0);
  std::uint64_t connected = 0;                  // the number of the last connection
  std::shared_ptr<grpc::ResourceQuota> memory;  // of all servers of this uid
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

UserServers::UserServers(const loop::Loop& loop,
                         std::function<UserServices(const supervisor::Peer&)> make)
    : awake_(std::make_unique<Awake>()), make_(std::move(make)), retirer_(loop) {}

UserServers::~UserServers() {
  for (const auto& [user, server] : servers_) server->close();
  if (tls_) tls_->close();
  retirer_.drain();
}

Result<void> UserServers::accept(UniqueFd connection, const supervisor::Peer& peer) {
  const policy::Tenant user = supervisor::tenant_of(peer);
  if (auto counted = count_connection(connection.get(), user); !counted) return counted;
  auto server = server_for(peer);
  if (!server) return pass(std::move(server));
  (*server)->connected = ++connections_;
  Acceptor::NewConnectionParameters parameters;
  parameters.fd = connection.release();
  (*server)->acceptor->HandleNewConnection(&parameters);
  return {};
}

Result<UserServers::Server*> UserServers::server_for(const supervisor::Peer& peer) {
  const std::vector<std::uint32_t> key = key_of(peer);
  if (const auto found = servers_.find(key); found != servers_.end()) return found->second.get();
  if (auto room = make_room(peer); !room) return pass(std::move(room));
  auto made = std::make_unique<Server>(make_(peer));
  grpc::ServerBuilder builder;
  configure(builder, made->services);
  made->bound_memory(builder, memory_of(peer.uid));
  made->count_calls(builder);
  made->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      AcceptorType::FROM_FD, grpc::InsecureServerCredentials());
  made->server = builder.BuildAndStart();
  if (!made->server) return fail("start a server for uid " + std::to_string(peer.uid));
  made->tell_health(!is_draining_);
  return servers_.emplace(key, std::move(made)).first->second.get();
}

std::map<std::uint32_t, UserServers::OfUid> UserServers::by_uid() const {
  std::map<std::uint32_t, OfUid> known;
  for (const auto& [key, server] : servers_) {
    OfUid& of_uid = known[key.front()];
    ++of_uid.servers;
    of_uid.calls += *server->calls;
    of_uid.connected = std::max(of_uid.connected, server->connected);
  }
  return known;
}

Result<void> UserServers::make_room(const supervisor::Peer& peer) {
  const auto known = by_uid();
  const auto own = known.find(peer.uid);
  const std::string who = "refuse uid " + std::to_string(peer.uid) + ": found ";
  if (own != known.end() && own->second.servers >= kOfUidMax) {
    if (retire_one([&](std::uint32_t uid) { return uid == peer.uid; })) return {};
    return fail(who + std::to_string(kOfUidMax) +
                " servers of this user already, one for each set of groups");
  }
  const bool is_host = supervisor::tenant_of(peer) == policy::kHost;
  if (own == known.end()) {
    if (known.size() < kUsersMax || retire_user() || is_host) return {};
    return fail(who + std::to_string(kUsersMax) + " users already");
  }
  const auto has_further = [&](std::uint32_t uid) { return known.at(uid).servers > 1; };
  if (servers_.size() - known.size() < kFurtherMax || retire_one(has_further) || is_host) return {};
  return fail(who + std::to_string(kFurtherMax) +
              " further servers already, for users with several sets of groups");
}

// Of one user that is known, or a new one.
std::shared_ptr<grpc::ResourceQuota> UserServers::memory_of(std::uint32_t uid) const {
  const auto known = std::find_if(servers_.begin(), servers_.end(),
                                  [uid](const auto& one) { return one.first.front() == uid; });
  return known != servers_.end() ? known->second->memory : new_memory();
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

bool UserServers::retire_one(const std::function<bool(std::uint32_t)>& may_go) {
  auto oldest = servers_.end();
  for (auto it = servers_.begin(); it != servers_.end(); ++it) {
    if (*it->second->calls > 0 || !may_go(it->first.front())) continue;
    if (oldest == servers_.end() || it->second->connected < oldest->second->connected) oldest = it;
  }
  if (oldest == servers_.end() || *retiring_ >= kRetiringMax) return false;
  retire(oldest);
  return true;
}

bool UserServers::retire_user() {
  const auto known = by_uid();
  auto oldest = known.end();
  for (auto it = known.begin(); it != known.end(); ++it) {
    if (it->second.calls > 0) continue;
    if (oldest == known.end() || it->second.connected < oldest->second.connected) oldest = it;
  }
  if (oldest == known.end() || *retiring_ + oldest->second.servers > kRetiringMax) return false;
  for (auto it = servers_.begin(); it != servers_.end();) {
    const auto one = it++;
    if (one->first.front() == oldest->first) retire(one);
  }
  return true;
}

// Its clients' connections are closed; a client of gRPC makes another with its next call.
void UserServers::retire(Servers::iterator gone) {
  std::shared_ptr<Server> going = std::move(gone->second);
  servers_.erase(gone);
  // A call may have come since the look.
  going->close();
  ++*retiring_;
  retirer_.submit([going = std::move(going)]() mutable { going.reset(); },
                  [retiring = retiring_] { --*retiring; });
}

Result<void> UserServers::serve_tls(const TlsTexts& tls,
                                    std::shared_ptr<TlsConnections> connections) {
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls.client_ca;
  options.pem_key_cert_pairs.push_back({tls.key, tls.certificate});
  const auto credentials = grpc::SslServerCredentials(options);
  if (!can_be_used(credentials))
    return fail("serve TLS: failed; the certificate and key files must be in PEM format");
  auto made =
      std::make_unique<Server>(make_(supervisor::Peer{.where = supervisor::PeerPlace::remote}));
  grpc::ServerBuilder builder;
  configure(builder, made->services);
  made->bound_memory(builder, new_memory());
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> watchers;
  watchers.push_back(std::make_unique<CertificateWatcher>(std::move(connections)));
  builder.experimental().SetInterceptorCreators(std::move(watchers));
  made->acceptor =
      builder.experimental().AddExternalConnectionAcceptor(AcceptorType::FROM_FD, credentials);
  made->server = builder.BuildAndStart();
  if (!made->server) return fail("serve TLS: failed");
  made->tell_health(!is_draining_);
  tls_ = std::move(made);
  return {};
}

void UserServers::accept_tls(UniqueFd connection) {
  Acceptor::NewConnectionParameters parameters;
  parameters.fd = connection.release();
  tls_->acceptor->HandleNewConnection(&parameters);
}

void UserServers::drain() {
  is_draining_ = true;
  for (const auto& [user, server] : servers_) server->tell_health(false);
  if (tls_) tls_->tell_health(false);
}

}  // namespace plimsoll::daemon
