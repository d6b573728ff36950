#include "page/page.h"

#include "base/check.h"
#include "page/document.h"
#include "page/packed.h"

namespace plimsoll::page {

std::string page_of(const Contents& contents) {
  constexpr std::string_view kPlace = "@PLIMSOLL_RUN@";  // in page/index.html
  const std::string_view page = page_template();
  const std::size_t at = page.find(kPlace);
  PLIMSOLL_CHECK(at != std::string_view::npos);
  std::string text(page.substr(0, at));
  text += packed(document_of(contents));
  text += page.substr(at + kPlace.size());
  return text;
}

}  // namespace plimsoll::page
