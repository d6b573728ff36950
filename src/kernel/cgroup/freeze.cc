#include "kernel/cgroup/freeze.h"

#include "base/text.h"
#include "kernel/cgroup/events.h"

namespace plimsoll::cgroup {
namespace {

constexpr const char* kV1State = "freezer.state";
constexpr const char* kV2Freeze = "cgroup.freeze";

Result<FreezeState> v1_state(const Directory& freezer) {
  const auto text = freezer.read(kV1State);
  if (!text) return tl::unexpected(text.error());
  const std::string_view word = trim(*text);
  if (word == "THAWED") return FreezeState::thawed;
  if (word == "FREEZING") return FreezeState::freezing;
  if (word == "FROZEN") return FreezeState::frozen;
  return fail(std::errc::invalid_argument, freezer.label() + ": read freezer.state");
}

Result<FreezeState> v2_state(const Directory& freezer) {
  auto text = freezer.read("cgroup.events");
  if (!text) return pass(std::move(text));
  auto events = parse_cgroup_events(*text);
  if (!events) return pass(std::move(events), freezer.label());
  if (events->frozen) return FreezeState::frozen;
  auto asked = freezer.read(kV2Freeze);
  if (!asked) return pass(std::move(asked));
  return trim(*asked) == "1" ? FreezeState::freezing : FreezeState::thawed;
}

}  // namespace

std::string_view name_of(FreezeState state) {
  switch (state) {
    case FreezeState::thawed: return "thawed";
    case FreezeState::freezing: return "freezing";
    case FreezeState::frozen: return "frozen";
  }
  return {};
}

const Directory* freezer_of(const Group& group) {
  return group.v2() != nullptr ? group.v2() : group.of(Controller::freezer);
}

Result<void> request_freeze(const Directory& freezer) {
  return freezer.version() == Version::v2 ? freezer.write(kV2Freeze, "1")
                                          : freezer.write(kV1State, "FROZEN");
}

Result<void> thaw(const Directory& freezer) {
  return freezer.version() == Version::v2 ? freezer.write(kV2Freeze, "0")
                                          : freezer.write(kV1State, "THAWED");
}

Result<FreezeState> freeze_state(const Directory& freezer) {
  return freezer.version() == Version::v2 ? v2_state(freezer) : v1_state(freezer);
}

Result<FreezeGuard> FreezeGuard::freeze(const Group& group) {
  const Directory* freezer = freezer_of(group);
  if (freezer == nullptr) return fail(std::errc::not_supported, "freeze " + group.name());
  auto own = freezer->clone();
  if (!own) return pass(std::move(own));
  FreezeGuard guard(std::move(*own));
  // The guard exists first: a write that fails half-way is undone too.
  if (auto asked = request_freeze(guard.freezer_); !asked) return pass(std::move(asked));
  return guard;
}

FreezeGuard& FreezeGuard::operator=(FreezeGuard&& other) noexcept {
  thaw_if_held();
  freezer_ = std::move(other.freezer_);
  return *this;
}

FreezeGuard::~FreezeGuard() { thaw_if_held(); }

void FreezeGuard::thaw_if_held() const {
  if (freezer_.fd() < 0) return;
  // A group that is gone needs no thaw, and there is nobody to tell of another failure: whoever
  // must know asks state() or thaws by hand.
  [[maybe_unused]] const auto ignored = thaw(freezer_);
}

}  // namespace plimsoll::cgroup
