#include "daemon/observatory.h"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <utility>

namespace plimsoll::daemon {

Observatory::Observatory(loop::Loop& loop, std::string_view version,
                         std::function<web::Snapshot()> look)
    : loop_(loop), look_(std::move(look)), metrics_(version), lag_timer_(loop.timer([this] {
        const Instant now = loop::now();
        metrics_.lag(std::max(now - due_, Duration{}));
        due_ = now + kLagGap;
        lag_timer_.set(due_);
      })) {
  due_ = loop::now() + kLagGap;
  lag_timer_.set(due_);
}

Result<void> Observatory::serve(const Address& address) {
  auto server = web::Server::start(loop_, {.host = address.host, .port = address.port},
                                   [this] { return metrics_.collect(look_()); });
  if (!server) return pass(std::move(server));
  server_ = std::move(*server);
  return {};
}

}  // namespace plimsoll::daemon
