#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace plimsoll::cli {

// An option that collects: add_value() (args/parsing.h), with `take` called for each of its values,
// in their order.
template <class T, class Take>
CLI::Option* add_each(CLI::App& app, const std::string& name, Result<T> (*parse)(std::string_view),
                      Take take, const std::string& help) {
  const auto store = [take, parse](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (auto value = parse(text)) take(std::move(*value));
    }
  };
  const auto check = [parse](const std::string& text) {
    const auto value = parse(text);
    return value ? std::string() : value.error().message();
  };
  return app.add_option_function<std::vector<std::string>>(name, store, help)
      ->allow_extra_args(false)
      ->check(check);
}

}  // namespace plimsoll::cli
