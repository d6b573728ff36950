#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/light/light_protocol.h"
#include "supervisor/light/light_server.h"
#include "supervisor/light/packet.h"

namespace plimsoll::supervisor {

// One connection of a LightServer, and its job.
class LightServer::Client : private ExternalListener {
 public:
  // Both must outlive this.
  Client(ClientJobs& jobs, Closer& closer, UniqueFd fd, const Peer& peer, Instant now);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // Its job, if there is one yet, goes on by itself.
  ~Client() override;

  void watch(loop::Watch watch) { watch_ = std::move(watch); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] policy::Tenant user() const { return user_; }
  // Nothing more is done for it.
  [[nodiscard]] bool is_over(Instant now) const {
    return is_over_ || (!has_entered_ && now - since_ >= kIdleMax);
  }

  // What its socket is ready for.
  void serve(std::uint32_t events);

 private:
  void receive();
  void obey(Packet& packet);
  void enter(const LightEnter& asked, const std::vector<UniqueFd>& sent);
  void start_again(const std::vector<UniqueFd>& sent);
  void leave(const LightOver& over);
  void refuse(const Error& error);
  void tell(const LightNews& news);
  void flush();

  void on_admit(const std::string& name, unsigned attempt, const std::string& reason) override;
  void on_hold(const std::string& name, policy::HoldCause cause,
               const std::string& reason) override;
  void on_pause(const std::string& /*name*/, const std::string& /*reason*/) override {}
  void on_resume(const std::string& /*name*/, const std::string& /*reason*/) override {}
  void on_cancel(const std::string& name, policy::Outcome cause, const std::string& reason,
                 Again again) override;
  void on_left(const std::string& name, Again again, const std::string& reason) override;

  ClientJobs& jobs_;
  Closer& closer_;
  UniqueFd fd_;
  policy::Tenant user_;
  Instant since_;
  std::string name_;
  ClientId id_{};
  std::optional<std::string> untold_;  // the last frame, if it could not be sent yet
  bool has_entered_ = false;
  bool is_leaving_ = false;
  std::optional<LightCancelled> promised_;  // another attempt, after this end
  bool is_over_ = false;
  loop::Watch watch_;
};

}  // namespace plimsoll::supervisor
