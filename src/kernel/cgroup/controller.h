#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plimsoll::cgroup {

// The kernel's two cgroup interfaces. On a hybrid host both are mounted and each controller lives
// on one of them.
enum class Version : std::uint8_t { v1, v2 };

// The controllers that Plimsoll uses, by their v2 names: `io` is v1's blkio. `cpuacct` and
// `freezer` exist on v1 only; on v2 both are part of every group.
enum class Controller : std::uint8_t { cpu, cpuacct, cpuset, freezer, io, memory, pids };

inline constexpr std::array kControllers = {
    Controller::cpu, Controller::cpuacct, Controller::cpuset, Controller::freezer,
    Controller::io,  Controller::memory,  Controller::pids};

// The name in cgroup.controllers and subtree_control (v2) or in mount options (v1).
std::string_view name_of(Controller controller, Version version);
std::optional<Controller> controller_named(std::string_view name, Version version);

class ControllerSet {
 public:
  constexpr ControllerSet() = default;
  template <class... C>
  constexpr explicit ControllerSet(C... controllers) {
    (add(controllers), ...);
  }
  constexpr void add(Controller c) { bits_ |= bit(c); }
  constexpr void remove(Controller c) { bits_ &= ~bit(c); }
  [[nodiscard]] constexpr bool has(Controller c) const { return (bits_ & bit(c)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr bool has_any(ControllerSet other) const {
    return (bits_ & other.bits_) != 0;
  }
  [[nodiscard]] constexpr bool has_all(ControllerSet other) const {
    return (bits_ & other.bits_) == other.bits_;
  }
  constexpr bool operator==(const ControllerSet&) const = default;
  friend constexpr ControllerSet operator|(ControllerSet a, ControllerSet b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend constexpr ControllerSet operator&(ControllerSet a, ControllerSet b) {
    a.bits_ &= b.bits_;
    return a;
  }

 private:
  static constexpr unsigned bit(Controller c) { return 1U << static_cast<unsigned>(c); }
  unsigned bits_ = 0;
};

}  // namespace plimsoll::cgroup
