#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "supervisor/run/pool_options.h"

namespace plimsoll::cli {

// How all jobs of a run together may use the machine. `jobs`: what they are called in --help.
void add_governor_options(CLI::App& app, supervisor::PoolOptions& options, const std::string& jobs);

}  // namespace plimsoll::cli
