#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/units.h"
#include "daemon/dashboard/secrets.h"
#include "daemon/http/site.h"
#include "supervisor/control/run_status.h"

namespace plimsoll::dashboard {

// While somebody looks, the daemon is asked so often how it does.
inline constexpr Duration kLookGap = std::chrono::seconds(1);
// Lists and pages that are asked for and not made yet; whoever comes then is told to come again.
// Each may have some megabytes.
inline constexpr std::size_t kUnmadeMax = 8;
// Of a run of 10,000 jobs the page takes some seconds, and others may come before it.
inline constexpr Duration kPagePatience = std::chrono::seconds(30);
inline constexpr Duration kPageRequestMax = std::chrono::minutes(1);

// Whose jobs are shown.
class DashboardSource {
 public:
  virtual ~DashboardSource() = default;
  // How they do now. On the loop's thread.
  virtual supervisor::RunStatus status() = 0;
};

struct SiteConfig {
  Secrets secrets;
  std::string runs_dir;  // where runs are recorded
};

// Of each path but one, whoever does not know the token is told 403.
//
//   /hello/NONCE    the salt of this start, and the proof that this is the daemon
//   /TOKEN/         the page
//   /TOKEN/key      by which a page knows that proof, and the token after the next start
//   /TOKEN/events   a stream of server-sent events: each a line of plimsoll.progress/1
//   /TOKEN/runs     recorded runs: plimsoll.runs/1
//   /TOKEN/runs/ID  the page of one
//
// It knows no state: `source` is asked on the thread of the daemon's loop, on which the site must
// end; both must outlive it. Files of runs are read on a thread of its own, which the end of the
// site waits for.
[[nodiscard]] std::unique_ptr<http::Site> dashboard_site(loop::Loop& daemon,
                                                         DashboardSource& source,
                                                         SiteConfig config);

// What Vite has made of page/dashboard.html.
[[nodiscard]] std::string_view dashboard_page();

}  // namespace plimsoll::dashboard
