#include "daemon/api/favour.h"

#include <string>

namespace plimsoll::daemon {
namespace {

constexpr unsigned kWeightDefault = 100;  // of cpu.weight

tl::unexpected<Error> too_much(const char* field, const std::string& found, unsigned most) {
  return fail(std::errc::permission_denied, std::string(field) + ": found " + found +
                                                ", expected at most " + std::to_string(most) +
                                                ", because only root may set more");
}

}  // namespace

Result<void> check_favour(const supervisor::Peer& peer, const Favour& favour) {
  if (supervisor::tenant_of(peer) == policy::kHost) return {};
  if (favour.priority > 0) return too_much("priority", std::to_string(favour.priority), 0);
  if (favour.weight > kWeightDefault) {
    return too_much("weight", std::to_string(*favour.weight), kWeightDefault);
  }
  return {};
}

}  // namespace plimsoll::daemon
