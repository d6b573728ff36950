#include "rpc/api.h"

#include <fcntl.h>

#include <atomic>
#include <utility>

#include "base/file.h"
#include "rpc/governor_service.h"
#include "rpc/governor_streams.h"
#include "rpc/job_desk.h"
#include "rpc/jobs_service.h"
#include "rpc/user_servers.h"

namespace plimsoll::rpc {
namespace {

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

// The streams end first, then the servers: these wait for calls that nobody answers otherwise.
class Api::Inside {
 public:
  Inside(loop::Loop& loop, Gate& gate, engine::Guests& guests, std::shared_ptr<JobDesk> jobs,
         std::function<void(const std::string&)> notice)
      : gate_(gate),
        guests_(guests),
        jobs_(std::move(jobs)),
        notice_(std::move(notice)),
        servers_([this](const engine::Peer& peer) { return services_for(peer); }),
        streams_(std::make_shared<GovernorStreams>(guests)),
        looks_(loop.timer([this] { look(); })) {
    look();
  }

  ~Inside() {
    *ending_ = true;
    if (jobs_) jobs_->abandon();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  Result<void> listen(loop::Loop& loop, const ApiConfig& config) {
    auto listener = PeerListener::start(
        loop, config.socket, [this](UniqueFd connection, const engine::Peer& peer) {
          auto accepted = servers_.accept(std::move(connection), peer);
          if (!accepted) notice_(accepted.error().message());
        });
    if (!listener) return pass(std::move(listener));
    listener_ = std::move(*listener);
    if (!config.tls) return {};
    auto texts = read_tls(*config.tls);
    if (!texts) return pass(std::move(texts));
    auto port = servers_.listen_with_tls(config.tls->address, *texts);
    if (!port) return pass(std::move(port));
    tls_port_ = *port;
    return {};
  }

  [[nodiscard]] std::size_t streams() const { return streams_->size(); }
  [[nodiscard]] std::optional<int> tls_port() const { return tls_port_; }
  void drain() { servers_.drain(); }

 private:
  // Of one user.
  struct Both {
    Both(Gate& gate, const std::shared_ptr<GovernorStreams>& streams, const engine::Peer& peer)
        : governor(gate, streams, peer) {}
    GovernorService governor;
    std::optional<JobsService> jobs;
  };

  UserServices services_for(const engine::Peer& peer) {
    auto both = std::make_shared<Both>(gate_, streams_, peer);
    UserServices made{
        .services = {both->governor.service()}, .names = {"plimsoll.v1.Governor"}, .owner = both};
    if (jobs_) {
      made.services.push_back(both->jobs.emplace(gate_, jobs_, peer, ending_).service());
      made.names.emplace_back("plimsoll.v1.Jobs");
    }
    return made;
  }

  void look() {
    guests_.look();
    looks_.set(loop::now() + engine::Guests::kLookGap);
  }

  Gate& gate_;
  engine::Guests& guests_;
  std::shared_ptr<JobDesk> jobs_;
  std::function<void(const std::string&)> notice_;
  const std::shared_ptr<std::atomic<bool>> ending_ = std::make_shared<std::atomic<bool>>(false);
  std::optional<int> tls_port_;
  UserServers servers_;
  std::shared_ptr<GovernorStreams> streams_;
  std::unique_ptr<PeerListener> listener_;
  loop::Timer looks_;
};

Result<std::unique_ptr<Api>> Api::start(loop::Loop& loop, Gate& gate, engine::Guests& guests,
                                        std::shared_ptr<JobDesk> jobs, const ApiConfig& config,
                                        std::function<void(const std::string&)> notice) {
  std::unique_ptr<Api> api(new Api());
  api->inside_ = std::make_unique<Inside>(loop, gate, guests, std::move(jobs), std::move(notice));
  if (auto listens = api->inside_->listen(loop, config); !listens) return pass(std::move(listens));
  return api;
}

Api::~Api() = default;

std::size_t Api::streams() const { return inside_->streams(); }
void Api::drain() { inside_->drain(); }
std::optional<int> Api::tls_port() const { return inside_->tls_port(); }

}  // namespace plimsoll::rpc
