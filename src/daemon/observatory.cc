#include "daemon/observatory.h"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <utility>

namespace plimsoll::daemon {

Observatory::Observatory(loop::Loop& loop, std::string_view version,
                         std::function<metrics::Snapshot()> look)
    : loop_(loop), look_(std::move(look)), metrics_(version), lag_timer_(loop.timer([this] {
        const Instant now = loop::now();
        const Duration late = std::max(now - due_, Duration{});
        metrics_.lag(late);
        lag_.add(late);
        due_ = now + kLagGap;
        lag_timer_.set(due_);
      })) {
  due_ = loop::now() + kLagGap;
  lag_timer_.set(due_);
}

Result<void> Observatory::serve(const MetricsConfig& config) {
  const Address address = config.address.value_or(Address{});
  auto server = metrics::Server::start(loop_,
                                       {.host = address.host,
                                        .port = address.port,
                                        .socket = config.socket.value_or(std::string()),
                                        .socket_mode = config.socket_mode,
                                        .names = config.names},
                                       [this] { return metrics_.collect(look_()); });
  if (!server) return pass(std::move(server));
  server_ = std::move(*server);
  return {};
}

}  // namespace plimsoll::daemon
