#include "daemon/api/api.h"

#include <fcntl.h>

#include <utility>

#include "base/file.h"
#include "daemon/api/governor_service.h"
#include "daemon/api/governor_streams.h"
#include "daemon/api/job_service.h"
#include "daemon/api/jobs_rpc_service.h"
#include "daemon/grpc/callers.h"
#include "daemon/grpc/tls_connections.h"
#include "daemon/grpc/tls_door.h"
#include "daemon/grpc/user_servers.h"

namespace plimsoll::daemon {
namespace {

constexpr Duration kTurnedAwayGap = std::chrono::minutes(1);

Result<std::string> read_pem(const std::string& path) {
  auto file = open_at(AT_FDCWD, path, O_RDONLY);
  if (!file) return pass(std::move(file));
  auto text = read_text(file->get());
  if (!text) return pass(std::move(text), path);
  return text;
}

Result<TlsTexts> read_tls(const TlsConfig& config) {
  TlsTexts texts;
  for (const auto& [path, text] :
       {std::pair(&config.certificate, &texts.certificate), std::pair(&config.key, &texts.key),
        std::pair(&config.client_ca, &texts.client_ca)}) {
    auto read = read_pem(*path);
    if (!read) return pass(std::move(read));
    *text = std::move(*read);
  }
  return texts;
}

}  // namespace

// The services of each user, and who hears of those that have none.
//
// Invariant: what make() looks at does not change, or is safe on any thread.
class ServicesOfUsers : public UserServicesMaker {
 public:
  ServicesOfUsers(Gate& gate, const std::shared_ptr<GovernorStreams>& streams,
                  const std::shared_ptr<JobService>& jobs,
                  std::shared_ptr<const TlsConnections> afar, Reporter& reporter)
      : gate_(gate), streams_(streams), jobs_(jobs), afar_(std::move(afar)), reporter_(reporter) {}

  UserServices make(const supervisor::Peer& peer) override {
    const Callers callers(peer, afar_);
    auto both = std::make_shared<Both>(gate_, streams_, callers);
    UserServices made{
        .services = {both->governor.service()}, .names = {"plimsoll.v1.Governor"}, .owner = both};
    if (!jobs_.expired()) {
      made.services.push_back(both->jobs.emplace(gate_, jobs_, callers).service());
      made.names.emplace_back("plimsoll.v1.Jobs");
    }
    return made;
  }

  // Whoever is turned away may come again at once, for ever.
  void turned_away(const Error& why) override {
    const Instant now = loop::now();
    if (told_ && now < *told_ + kTurnedAwayGap) return;
    told_ = now;
    reporter_.notice(why.message());
  }

 private:
  // Of one user.
  struct Both : UserServices::Owner {
    Both(Gate& gate, const std::weak_ptr<GovernorStreams>& streams, const Callers& callers)
        : governor(gate, streams, callers) {}
    void close() override {
      if (jobs) jobs->close();
    }
    GovernorService governor;
    std::optional<JobsRpcService> jobs;
  };

  Gate& gate_;
  const std::weak_ptr<GovernorStreams> streams_;
  const std::weak_ptr<JobService> jobs_;
  const std::shared_ptr<const TlsConnections> afar_;
  Reporter& reporter_;
  std::optional<Instant> told_;  // last, of one who was turned away
};

// The streams end first, then the servers: these wait for calls that nobody answers otherwise.
class Api::Inside : private supervisor::ConnectionTaker {
 public:
  Inside(loop::Loop& loop, Gate& gate, supervisor::ExternalJobs& external_jobs,
         std::shared_ptr<JobService> jobs, Reporter& reporter)
      : jobs_(std::move(jobs)),
        streams_(std::make_shared<GovernorStreams>(external_jobs)),
        services_(gate, streams_, jobs_, afar_, reporter),
        servers_(loop, services_) {}

  ~Inside() override {
    if (jobs_) jobs_->abandon();
    streams_.reset();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  Result<void> listen(loop::Loop& loop, const ApiConfig& config) {
    auto listener = supervisor::PeerListener::start(loop, config.socket, *this);
    if (!listener) return pass(std::move(listener));
    listener_ = std::move(*listener);
    if (!config.tls) return {};
    auto texts = read_tls(*config.tls);
    if (!texts) return pass(std::move(texts));
    if (auto served = servers_.serve_tls(*texts, afar_); !served) return served;
    auto door = TlsDoor::open(config.tls->host, config.tls->port, afar_, servers_);
    if (!door) return pass(std::move(door));
    door_ = std::move(*door);
    return {};
  }

  [[nodiscard]] std::size_t streams() const { return streams_->size(); }
  [[nodiscard]] std::optional<int> tls_port() const {
    return door_ ? std::optional<int>(door_->port()) : std::nullopt;
  }
  void drain() { servers_.drain(); }

 private:
  void take(UniqueFd connection, const supervisor::Peer& peer) override {
    auto accepted = servers_.accept(std::move(connection), peer);
    if (!accepted) services_.turned_away(accepted.error());
  }

  std::shared_ptr<JobService> jobs_;
  const std::shared_ptr<TlsConnections> afar_ = std::make_shared<TlsConnections>();
  std::shared_ptr<GovernorStreams> streams_;
  ServicesOfUsers services_;
  UserServers servers_;
  std::unique_ptr<supervisor::PeerListener> listener_;
  std::unique_ptr<TlsDoor> door_;
};

Result<std::unique_ptr<Api>> Api::start(loop::Loop& loop, Gate& gate,
                                        supervisor::ExternalJobs& external_jobs,
                                        std::shared_ptr<JobService> jobs, const ApiConfig& config,
                                        Reporter& reporter) {
  std::unique_ptr<Api> api(new Api());
  api->inside_ = std::make_unique<Inside>(loop, gate, external_jobs, std::move(jobs), reporter);
  if (auto listens = api->inside_->listen(loop, config); !listens) return pass(std::move(listens));
  return api;
}

Api::~Api() = default;

std::size_t Api::streams() const { return inside_->streams(); }
void Api::drain() { inside_->drain(); }
std::optional<int> Api::tls_port() const { return inside_->tls_port(); }

}  // namespace plimsoll::daemon
