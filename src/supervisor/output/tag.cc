#include "supervisor/output/tag.h"

namespace plimsoll::output {

std::size_t append_tagged(std::string& out, const std::optional<std::string>& tag,
                          std::string_view data, std::size_t limit, InLine& at) {
  if (data.empty()) return 0;
  if (!tag) {
    out += data;
    at = data.back() == '\n' ? InLine::start : InLine::middle;
    return data.size();
  }
  std::size_t taken = 0;
  do {
    if (at == InLine::start) {
      out += *tag;
      out += '\t';
    }
    const std::size_t newline = data.find('\n', taken);
    at = newline == std::string_view::npos ? InLine::middle : InLine::start;
    const std::size_t end = at == InLine::start ? newline + 1 : data.size();
    out += data.substr(taken, end - taken);
    taken = end;
  } while (taken < data.size() && out.size() < limit);
  return taken;
}

}  // namespace plimsoll::output
