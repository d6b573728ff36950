#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "jobfile/template.h"

// The first line is a template as shell text and as the first of two words, the rest are values.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find('\0') != std::string_view::npos) return 0;
  const std::string first(plimsoll::take_line(text));
  std::vector<std::string> values;
  while (!text.empty()) values.emplace_back(plimsoll::take_line(text));
  for (const auto& words : {std::vector{first}, std::vector{first, std::string("{1/.}")}}) {
    const auto command = plimsoll::jobfile::CommandTemplate::parse(words);
    if (!command) continue;
    const auto filled = plimsoll::policy::fill_slot(command->fill(values, 7), 3);
    PLIMSOLL_CHECK(plimsoll::policy::command_line(filled).find('\0') == std::string::npos);
  }
  return 0;
}
