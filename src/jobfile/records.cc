#include "jobfile/records.h"

#include "base/text.h"
#include "jobfile/place.h"

namespace plimsoll::jobfile {

Result<std::vector<Record>> split_records(std::string_view text, std::string_view file,
                                          Separator separator) {
  const char end = separator == Separator::newline ? '\n' : '\0';
  std::vector<Record> records;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view record = take_until(text, end);
    // With NUL as the separator there can be none left.
    if (const auto at = record.find('\0'); at != std::string_view::npos) {
      return fail_at({file, number}, "found a NUL byte in column " + std::to_string(at + 1) +
                                         ", expected text (-0 reads NUL-separated input)");
    }
    records.push_back({number, record});
  }
  return records;
}

}  // namespace plimsoll::jobfile
