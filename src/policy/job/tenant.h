#pragma once

#include <cstdint>

namespace plimsoll::policy {

// Whose a job is, where several users share one governor: an opaque number, chosen by the caller.
enum class Tenant : std::uint64_t {};

// Whoever the machine is. Where nobody else has jobs, users are of no account.
inline constexpr Tenant kHost{};

}  // namespace plimsoll::policy
