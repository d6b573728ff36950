#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/config.h"
#include "daemon/guest_desk.h"
#include "daemon/observatory.h"
#include "engine/knowledge.h"
#include "rpc/api.h"
#include "rpc/gate.h"
#include "rpc/job_desk.h"

namespace plimsoll::daemon {

// What the services stand on; all of it must outlive them.
struct ServicesGround {
  engine::Machine& machine;
  engine::Crew& crew;
  const engine::Knowledge& knowledge;
  rpc::Gate& gate;
  std::function<JobId()> next_id;  // new to the crew
  std::function<void(const std::string&)> notice;
  std::string_view version;
};

// All that the daemon offers to programs of this machine: plimsoll.v1, and metrics of it and of
// whatever else the crew runs. Of the loop's thread.
class Services {
 public:
  // Before the crew's first guest.
  explicit Services(ServicesGround ground);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  // The gate is closed and has let everything through by then, as Api says.
  ~Services();

  // Metrics that nobody has asked for are gone without, where they can't be served.
  Result<void> listen(const LoadedConfig& loaded);

  // What is counted: events of the crew, and ends of jobs of others than these services.
  void event(const policy::Event& event) { observatory_.event(event); }
  void ended(const record::JobReport& report) { observatory_.ended(report); }

  // No more jobs are taken or admitted; those that run go on. Or they are killed.
  void drain();
  void kill_all(const std::string& reason);
  [[nodiscard]] bool is_idle() const;

 private:
  [[nodiscard]] web::Snapshot snapshot();

  ServicesGround ground_;
  bool is_draining_ = false;
  Observatory observatory_;
  GuestDesk guests_;
  std::shared_ptr<rpc::JobDesk> jobs_;
  std::unique_ptr<rpc::Api> api_;
};

}  // namespace plimsoll::daemon
