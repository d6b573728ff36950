#include "daemon/dashboard/site.h"

#include <functional>
#include <optional>
#include <utility>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "base/result.h"
#include "base/text.h"
#include "daemon/dashboard/run_pages.h"
#include "daemon/dashboard/secrets.h"
#include "supervisor/control/progress_json.h"

namespace plimsoll::dashboard {
namespace {

using http::Answer;
using http::Client;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
// Pages have a policy of their own as to what they may load; who may show or read them is up to the
// head. The address is a secret, so that no other site may be told it.
constexpr const char* kFields =
    "Content-Security-Policy: frame-ancestors 'none'\r\n"
    "X-Frame-Options: DENY\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n";
// When the connection is lost, a browser comes again after so many milliseconds.
constexpr const char* kRetry = "retry: 1000\n\n";

Answer refusal(std::string_view status, const std::string& why) {
  return {.status = status, .fields = kFields, .body = http::body_of("plimsoll: " + why + "\n")};
}

// `json`: a line with its end.
std::string event_of(const std::string& json) { return "data: " + json + "\n"; }

Answer page_answer(const Result<std::string>& page, std::string_view type) {
  if (page) return {.type = type, .fields = kFields, .body = http::body_of(*page)};
  const bool is_gone = page.error().gone();
  return refusal(is_gone ? "404 Not Found" : "500 Internal Server Error", page.error().message());
}

// Invariant: `source_` is asked and let go on the thread of the daemon's loop only; all else is of
// the server's own, once it has begun.
class DashboardSite : public http::Site {
 public:
  DashboardSite(loop::Loop& daemon, DashboardSource& source, SiteConfig config)
      : ask_daemon_(daemon.poster()),
        source_(std::make_shared<DashboardSource*>(&source)),
        config_(std::move(config)) {}

 private:
  void open(http::Outlet& outlet, loop::Loop& own) override {
    outlet_ = &outlet;
    tell_ = own.poster();
    timer_ = own.timer([this] { tick(); });
    worker_.emplace(own);
  }

  void get(Client client, const http::Request& request) override {
    std::string_view path = request.path;
    path.remove_prefix(1);
    const std::string_view first = take_until(path, '/');
    if (first == "hello" && is_nonce(path)) return outlet_->answer(client, hello(path));
    if (!is_token(first, config_.secrets.token)) {
      return outlet_->answer(client, refusal("403 Forbidden",
                                             "the address of the dashboard is in the file "
                                             "`dashboard` of the daemon's state directory"));
    }
    constexpr std::string_view kRun = "runs/";
    if (path.empty()) return outlet_->answer(client, front(request));
    if (path == "events") return stream(client);
    if (path == "key") return outlet_->answer(client, plain(config_.secrets.key + "\n"));
    if (path == "runs") return make(client, kJson, &runs_json);
    if (path.starts_with(kRun)) {
      return make(client, kHtml,
                  [id = std::string(path.substr(kRun.size()))](const std::string& runs_dir) {
                    return run_page(runs_dir, id);
                  });
    }
    outlet_->answer(client, refusal("404 Not Found", "there is no such page"));
  }

  static Answer plain(std::string text) {
    return {.fields = kFields, .body = http::body_of(std::move(text))};
  }

  // Tells nobody anything who has no key.
  [[nodiscard]] Answer hello(std::string_view nonce) const {
    const Secrets& secrets = config_.secrets;
    Answer answer = plain(R"({"salt":")" + secrets.salt + R"(","proof":")" +
                          proof_of(secrets, nonce) + "\"}\n");
    answer.type = kJson;
    return answer;
  }

  // A part of the program.
  Answer front(const http::Request& request) const {
    if (request.path.ends_with('/')) {
      return {
          .type = kHtml, .fields = kFields, .body = http::body_of(std::string(dashboard_page()))};
    }
    Answer answer = refusal("308 Permanent Redirect", "the page is at this path with a / after it");
    answer.fields += "Location: /" + config_.secrets.token + "/\r\n";
    return answer;
  }

  void stream(Client client) {
    const bool is_new = last_ && loop::now() < last_at_ + kLookGap;
    outlet_->stream(client, {.type = "text/event-stream",
                             .fields = kFields,
                             .body = http::body_of(kRetry + (is_new ? **last_ : std::string()))});
    if (is_new) {
      timer_.set(last_at_ + kLookGap);
    } else {
      tick();
    }
  }

  // Asks and comes again as long as somebody looks.
  void tick() {
    if (outlet_->streams() == 0) return;
    timer_.set(loop::now() + kLookGap);
    ask();
  }

  // A daemon that does not answer is not asked again; whoever looks sees that nothing comes.
  void ask() {
    if (is_asking_) return;
    is_asking_ = true;
    ask_daemon_([this, source = weak_, tell = tell_] {
      const auto alive = source.lock();
      if (!alive) return;
      tell([this, status = std::make_shared<const supervisor::RunStatus>((*alive)->status())] {
        told(*status);
      });
    });
  }

  void told(const supervisor::RunStatus& status) {
    is_asking_ = false;
    last_ = http::body_of(event_of(supervisor::progress_status(status, status.elapsed)));
    last_at_ = loop::now();
    outlet_->publish(*last_);
  }

  void make(Client client, std::string_view type,
            std::function<Result<std::string>(const std::string&)> page) {
    if (unmade_ == kUnmadeMax) {
      return outlet_->answer(client, refusal("503 Service Unavailable", "too much is asked for"));
    }
    ++unmade_;
    auto made = std::make_shared<Answer>();
    worker_->submit([made, type, page = std::move(page),
                     runs_dir = config_.runs_dir] { *made = page_answer(page(runs_dir), type); },
                    [this, client, made] {
                      --unmade_;
                      outlet_->answer(client, *made);
                    });
  }

  std::function<void(std::function<void()>)> ask_daemon_;
  std::shared_ptr<DashboardSource*> source_;
  const std::weak_ptr<DashboardSource*> weak_ = source_;
  const SiteConfig config_;
  http::Outlet* outlet_ = nullptr;
  std::function<void(std::function<void()>)> tell_;  // the server's own loop
  bool is_asking_ = false;
  std::optional<http::Body> last_;  // of the events
  Instant last_at_{};
  std::size_t unmade_ = 0;
  loop::Timer timer_;
  std::optional<loop::Worker> worker_;  // first to end
};

}  // namespace

std::unique_ptr<http::Site> dashboard_site(loop::Loop& daemon, DashboardSource& source,
                                           SiteConfig config) {
  return std::make_unique<DashboardSite>(daemon, source, std::move(config));
}

}  // namespace plimsoll::dashboard
