#include "daemon/metrics/site.h"

#include <prometheus/metric_family.h>

#include <functional>
#include <map>
#include <utility>

#include "base/loop/loop.h"
#include "daemon/metrics/exposition.h"

namespace plimsoll::metrics {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

// Invariant: `source_` is asked and let go on the thread of the daemon's loop only; all else is of
// the server's own, once it has begun.
class MetricsSite : public http::Site {
 public:
  MetricsSite(loop::Loop& daemon, MetricsSource& source)
      : ask_daemon_(daemon.poster()), source_(std::make_shared<MetricsSource*>(&source)) {}

 private:
  // What the loop has answered last.
  struct Kept {
    Instant since{};
    std::shared_ptr<const Families> families{};
    std::map<Exposition, http::Body> bodies{};
  };

  void open(http::Outlet& outlet, loop::Loop& own) override {
    outlet_ = &outlet;
    tell_ = own.poster();
  }

  void get(http::Client client, const http::Request& request) override {
    if (request.path == "/") {
      return outlet_->answer(client,
                             {.body = http::body_of("The metrics of Plimsoll are at /metrics.\n")});
    }
    if (request.path != "/metrics") {
      return outlet_->answer(
          client, {.status = "404 Not Found", .body = http::body_of("plimsoll: 404 Not Found\n")});
    }
    const Exposition exposition = exposition_for(request.accept);
    if (kept_.families && loop::now() < kept_.since + kAnswerKept) {
      return send_kept(client, exposition);
    }
    waiting_.emplace(client, exposition);
    ask();
  }

  void left(http::Client client) override { waiting_.erase(client); }

  // One answer of the loop is for all that wait by then, and for whoever comes while it is kept.
  void ask() {
    if (is_asking_) return;
    is_asking_ = true;
    ask_daemon_([this, source = weak_, tell = tell_] {
      const auto alive = source.lock();
      if (!alive) return;
      tell([this, families = std::make_shared<const Families>((*alive)->collect())] {
        told(families);
      });
    });
  }

  void told(std::shared_ptr<const Families> families) {
    is_asking_ = false;
    kept_ = {.since = loop::now(), .families = std::move(families), .bodies = {}};
    for (const auto& [client, exposition] : std::exchange(waiting_, {})) {
      send_kept(client, exposition);
    }
  }

  void send_kept(http::Client client, Exposition exposition) {
    http::Body& body = kept_.bodies[exposition];
    if (!body) body = http::body_of(expose(*kept_.families, exposition));
    outlet_->answer(client, {.type = content_type(exposition), .body = body});
  }

  std::function<void(std::function<void()>)> ask_daemon_;
  std::shared_ptr<MetricsSource*> source_;
  const std::weak_ptr<MetricsSource*> weak_ = source_;
  http::Outlet* outlet_ = nullptr;
  std::function<void(std::function<void()>)> tell_;  // the server's own loop
  bool is_asking_ = false;
  Kept kept_;
  std::map<http::Client, Exposition> waiting_;
};

}  // namespace

std::unique_ptr<http::Site> metrics_site(loop::Loop& daemon, MetricsSource& source) {
  return std::make_unique<MetricsSite>(daemon, source);
}

}  // namespace plimsoll::metrics
