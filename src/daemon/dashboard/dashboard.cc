#include "daemon/dashboard/dashboard.h"

#include <utility>

#include "base/loop/tcp_socket.h"
#include "daemon/dashboard/token.h"
#include "report/writer.h"
#include "store/history/state_dir.h"

namespace plimsoll::dashboard {

Result<std::unique_ptr<Dashboard>> Dashboard::serve(loop::Loop& loop, const DashboardConfig& config,
                                                    DashboardSource& source) {
  if (auto made = history::make_private_dir(config.state_dir); !made) return pass(std::move(made));
  std::string file = config.state_dir + "/dashboard";
  const bool is_privileged = loop::is_privileged_port(config.port);
  auto token = token_of(file, is_privileged ? Port::privileged : Port::anybodys);
  if (!token) return pass(std::move(token));
  auto server = http::Server::start(
      {.purpose = "the dashboard",
       .host = config.host,
       .port = config.port,
       .names = config.names,
       .request_max = kPageRequestMax,
       .patience = kPagePatience},
      dashboard_site(loop, source, {.token = *token, .runs_dir = config.runs_dir}));
  if (!server) return pass(std::move(server));
  std::unique_ptr<Dashboard> dashboard(new Dashboard);
  dashboard->address_ = address_of({.host = config.host, .port = (*server)->port()}, *token);
  dashboard->file_ = std::move(file);
  dashboard->server_ = std::move(*server);
  auto written = report::write_file(dashboard->file_, dashboard->address_ + "\n");
  if (!written) return pass(std::move(written));
  return dashboard;
}

}  // namespace plimsoll::dashboard
