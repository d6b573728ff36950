#pragma once

#include <cstdint>

namespace plimsoll::cli {

// How the answer of `plimsoll doctor --build` is written.
enum class DoctorForm : std::uint8_t { text, json };

// Looks at the build tools on PATH and prints which of them obey a jobserver, and how each can be
// governed. The exit status. Waits for each of them to tell its version.
int doctor_build(DoctorForm form);

}  // namespace plimsoll::cli
