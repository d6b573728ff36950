#include "daemon/observatory.h"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <utility>

namespace plimsoll::daemon {

Observatory::Observatory(loop::Loop& loop, std::string_view version)
    : loop_(loop), metrics_(version), lag_timer_(loop.timer([this] {
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

Result<void> Observatory::serve(const MetricsConfig& config, metrics::MetricsSource& source) {
  const Address address = config.address.value_or(Address{});
  auto server = http::Server::start({.purpose = "metrics",
                                     .host = address.host,
                                     .port = address.port,
                                     .socket = config.socket.value_or(std::string()),
                                     .socket_mode = config.socket_mode,
                                     .names = config.names},
                                    metrics::metrics_site(loop_, source));
  if (!server) return pass(std::move(server));
  server_ = std::move(*server);
  return {};
}

std::vector<prometheus::MetricFamily> Observatory::collect(const metrics::Snapshot& now) const {
  return metrics_.collect(now);
}

}  // namespace plimsoll::daemon
