#include "report/json_text.h"

#include <nlohmann/json.hpp>

namespace plimsoll::report {

std::string text_of(const Json& json, JsonForm form) {
  constexpr int kIndent = 2;
  constexpr int kOneLine = -1;
  const int indent = form == JsonForm::pretty ? kIndent : kOneLine;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace plimsoll::report
