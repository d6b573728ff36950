#pragma once

#include <CLI/CLI.hpp>

#include "engine/pool_options.h"

namespace plimsoll::cli {

// How all jobs of a run together may use the machine.
void add_governor_options(CLI::App& app, engine::PoolOptions& options);

}  // namespace plimsoll::cli
