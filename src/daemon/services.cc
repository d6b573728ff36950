#include "daemon/services.h"

#include <utility>

namespace plimsoll::daemon {

Services::Services(ServicesGround ground)
    : ground_(std::move(ground)),
      observatory_(ground_.machine.loop(), ground_.version, [this] { return snapshot(); }),
      guests_(ground_.machine, ground_.crew, ground_.next_id,
              [this](const record::JobReport& report) { observatory_.ended(report); }),
      jobs_(std::make_shared<rpc::JobDesk>(rpc::JobGround{
          .machine = ground_.machine,
          .crew = ground_.crew,
          .next_id = ground_.next_id,
          .notice = ground_.notice,
          .ended = [this](const record::JobReport& report) { observatory_.ended(report); }})) {}

Services::~Services() = default;

Result<void> Services::listen(const LoadedConfig& loaded) {
  const Config& config = loaded.config;
  rpc::ApiConfig api{.socket = {.path = config.listen.socket, .group = config.listen.group},
                     .tls = {}};
  if (config.listen.tcp) {
    const Address& tcp = *config.listen.tcp;
    const bool is_v6 = tcp.host.find(':') != std::string::npos;
    api.tls = {
        .address = (is_v6 ? "[" + tcp.host + "]" : tcp.host) + ":" + std::to_string(tcp.port),
        .certificate = config.listen.tls_certificate,
        .key = config.listen.tls_key,
        .client_ca = config.listen.tls_client_ca};
  }
  auto started = rpc::Api::start(ground_.machine.loop(), ground_.gate, guests_.guests(), jobs_, api,
                                 ground_.notice);
  if (!started) return pass(std::move(started));
  api_ = std::move(*started);
  if (!config.metrics) return {};
  auto served = observatory_.serve(*config.metrics);
  if (served || !is_default(loaded, "metrics.listen")) return served;
  ground_.notice("no metrics: " + served.error().message());
  return {};
}

void Services::drain() {
  is_draining_ = true;
  guests_.guests().drain();
  jobs_->drain();
  if (api_) api_->drain();
}

void Services::kill_all(const std::string& reason) {
  drain();
  guests_.guests().cancel_all(reason);
  jobs_->kill_all(reason);
}

bool Services::is_idle() const { return guests_.guests().size() == 0 && jobs_->is_idle(); }

web::Snapshot Services::snapshot() {
  const engine::Crew& crew = ground_.crew;
  return {.conductor = crew.conductor().status(),
          .monitors = crew.world().monitors(),
          .machine = ground_.crew.system().now(),
          .pool_memory = crew.world().pool_pressure(),
          .guests = guests_.guests().size(),
          .connections = api_ ? api_->streams() : 0,
          .records_dropped = ground_.knowledge.dropped(),
          .samples_dropped = ground_.machine.dropped_samples(),
          .looks = crew.world().looks(),
          .draining = is_draining_};
}

}  // namespace plimsoll::daemon
