#pragma once

#include <CLI/CLI.hpp>

#include "supervisor/run/pool_options.h"

namespace plimsoll::cli {

// How all jobs of a run together may use the machine.
void add_governor_options(CLI::App& app, supervisor::PoolOptions& options);

}  // namespace plimsoll::cli
