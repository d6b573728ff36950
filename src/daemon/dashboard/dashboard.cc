#include "daemon/dashboard/dashboard.h"

#include <utility>

#include "base/loop/tcp_socket.h"
#include "daemon/dashboard/secrets.h"
#include "report/writer.h"
#include "store/history/state_dir.h"

namespace plimsoll::dashboard {

Result<std::unique_ptr<Dashboard>> Dashboard::serve(loop::Loop& loop, const DashboardConfig& config,
                                                    DashboardSource& source) {
  if (auto made = history::make_private_dir(config.state_dir); !made) return pass(std::move(made));
  std::string file = config.state_dir + "/dashboard";
  const bool is_privileged = loop::is_privileged_port(config.port);
  auto key = kept_key({.key = file + ".key", .address = file});
  if (!key) return pass(std::move(key));
  const std::string place = config.host + ":" + std::to_string(config.port);
  auto secrets = secrets_of(*key, place, is_privileged ? Port::privileged : Port::anybodys);
  if (!secrets) return pass(std::move(secrets));
  auto server = http::Server::start(
      {.purpose = "the dashboard",
       .host = config.host,
       .port = config.port,
       .names = config.names,
       .request_max = kPageRequestMax,
       .patience = kPagePatience},
      dashboard_site(loop, source, {.secrets = *secrets, .runs_dir = config.runs_dir}));
  if (!server) return pass(std::move(server));
  std::unique_ptr<Dashboard> dashboard(new Dashboard);
  dashboard->address_ =
      address_of({.host = config.host, .port = (*server)->port()}, secrets->token);
  dashboard->file_ = std::move(file);
  dashboard->server_ = std::move(*server);
  auto written = report::write_file(dashboard->file_, dashboard->address_ + "\n");
  if (!written) return pass(std::move(written));
  return dashboard;
}

}  // namespace plimsoll::dashboard
