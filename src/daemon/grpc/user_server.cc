#include "daemon/grpc/user_server.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "base/may_wait.h"
#include "daemon/grpc/reflection.h"
#include "daemon/grpc/tls_connections.h"

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

// Counts the calls of a server and of its user that are open, and cancels those beyond their bound.
class CallCounter : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  using Count = std::shared_ptr<std::atomic<std::size_t>>;
  CallCounter(Count count, std::shared_ptr<UserShare> share)
      : count_(std::move(count)), share_(std::move(share)) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return std::make_unique<Call>(*info, count_, share_).release();  // gRPC's, until it is over
  }

 private:
  class Call : public grpc::experimental::Interceptor {
   public:
    Call(grpc::experimental::ServerRpcInfo& info, Count count, std::shared_ptr<UserShare> share)
        : info_(info), count_(std::move(count)), share_(std::move(share)) {
      ++*count_;
      is_one_too_many_ = ++share_->calls > share_->calls_max;
    }
    ~Call() override {
      --*count_;
      --share_->calls;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
      using Point = grpc::experimental::InterceptionHookPoints;
      const bool begins = methods->QueryInterceptionHookPoint(Point::POST_RECV_INITIAL_METADATA);
      if (begins && is_one_too_many_) info_.server_context()->TryCancel();
      methods->Proceed();
    }

   private:
    grpc::experimental::ServerRpcInfo& info_;
    Count count_;
    std::shared_ptr<UserShare> share_;
    bool is_one_too_many_ = false;
  };
  Count count_;
  std::shared_ptr<UserShare> share_;
};

// Tells whose each call is, and cancels those beyond what a certificate may have open.
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
    ~Call() override {
      if (open_) --*open_;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    // Before the call's service. At its creation a call of reflection has no connection yet.
    void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
      using Point = grpc::experimental::InterceptionHookPoints;
      if (!open_ && methods->QueryInterceptionHookPoint(Point::POST_RECV_INITIAL_METADATA)) {
        const grpc::ServerContextBase& call = *info_.server_context();
        const auto who = call.auth_context();
        open_ = connections_->called(call.peer(), who ? name_of(*who) : std::string());
        const bool is_one_too_many = open_ && ++*open_ > TlsConnections::kCallsOfCertificateMax;
        if (is_one_too_many) info_.server_context()->TryCancel();
      }
      methods->Proceed();
    }

   private:
    grpc::experimental::ServerRpcInfo& info_;
    std::shared_ptr<TlsConnections> connections_;
    std::shared_ptr<TlsConnections::OpenCalls> open_;  // once it is counted there
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
  Reflection any({});  // one without services does not start
  grpc::ServerBuilder builder;
  builder.RegisterService(any.service());
  int port = 0;
  builder.AddListeningPort("unix-abstract:plimsoll-tls-" + std::to_string(::getpid()), credentials,
                           &port);
  const auto server = builder.BuildAndStart();
  return server && port != 0;
}

void configure(grpc::ServerBuilder& builder, const UserServices& services,
               std::unique_ptr<Reflection>& reflection) {
  grpc::EnableDefaultHealthCheckService(true);
  builder.SetMaxReceiveMessageSize(UserServer::kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepAliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepAliveAnswerMs);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // gRPC unpacks a message, to a thousand times as much, before it asks how long that is.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  for (grpc::Service* service : services.services) builder.RegisterService(service);
  reflection = std::make_unique<Reflection>(services.names);
  builder.RegisterService(reflection->service());
}

}  // namespace

struct UserServer::Inside {
  void start(grpc::ServerBuilder& builder, grpc::ResourceQuota& memory,
             const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    builder.SetResourceQuota(memory);
    acceptor =
        builder.experimental().AddExternalConnectionAcceptor(AcceptorType::FROM_FD, credentials);
    server = builder.BuildAndStart();
  }

  UserServices services;  // outlives the server, as the next does
  std::unique_ptr<Reflection> reflection;
  const CallCounter::Count calls = std::make_shared<std::atomic<std::size_t>>(0);
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

UserServer::UserServer(std::shared_ptr<UserShare> share)
    : share_(std::move(share)), inside_(std::make_unique<Inside>()) {}

UserServer::~UserServer() {
  if (!inside_->server) return;
  may_wait("the end of a user's server");
  inside_->server->Shutdown(std::chrono::system_clock::now() + kCallsPatience);
}

Result<void> UserServer::build(UserServices services) {
  may_wait("the making of a user's server");
  inside_->services = std::move(services);
  grpc::ServerBuilder builder;
  configure(builder, inside_->services, inside_->reflection);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfConnectionMax);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> counters;
  counters.push_back(std::make_unique<CallCounter>(inside_->calls, share_));
  builder.experimental().SetInterceptorCreators(std::move(counters));
  inside_->start(builder, *share_->memory, grpc::InsecureServerCredentials());
  if (!inside_->server) return fail("start a gRPC server: failed");
  return {};
}

Result<void> UserServer::build_tls(UserServices services, const TlsTexts& tls,
                                   std::shared_ptr<TlsConnections> connections) {
  may_wait("the making of the server for TLS");
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls.client_ca;
  options.pem_key_cert_pairs.push_back({tls.key, tls.certificate});
  const auto credentials = grpc::SslServerCredentials(options);
  if (!can_be_used(credentials))
    return fail("serve TLS: failed; the certificate and key files must be in PEM format");
  inside_->services = std::move(services);
  grpc::ServerBuilder builder;
  configure(builder, inside_->services, inside_->reflection);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfConnectionMax);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> watchers;
  watchers.push_back(std::make_unique<CertificateWatcher>(std::move(connections)));
  builder.experimental().SetInterceptorCreators(std::move(watchers));
  inside_->start(builder, *share_->memory, credentials);
  if (!inside_->server) return fail("serve TLS: failed");
  return {};
}

void UserServer::take(UniqueFd connection) const {
  Acceptor::NewConnectionParameters parameters;
  parameters.fd = connection.release();
  inside_->acceptor->HandleNewConnection(&parameters);
}

void UserServer::close() const {
  if (inside_->services.owner) inside_->services.owner->close();
}

std::size_t UserServer::calls() const { return *inside_->calls; }

void UserServer::tell_health(Health health) const {
  grpc::HealthCheckServiceInterface* service = inside_->server->GetHealthCheckService();
  if (service == nullptr) return;
  const bool serving = health == Health::serving;
  for (const std::string& name : inside_->services.names) {
    service->SetServingStatus(name, serving);
  }
  service->SetServingStatus("", serving);
}

}  // namespace plimsoll::daemon
