#include "report/json_read.h"

#include <gtest/gtest.h>

#include <string>

namespace plimsoll::report {
namespace {

std::string document(std::size_t length) {
  const std::string start = R"({"schema":"a/1","text":")";
  const std::string end = R"("})";
  return start + std::string(length - start.size() - end.size(), 'x') + end;
}

TEST(ParseDocument, TakesWhatIsNotTooLong) {
  EXPECT_TRUE(parse_document(document(kDocumentMax), "a/1"));
  EXPECT_FALSE(parse_document(document(kDocumentMax + 1), "a/1"));
}

TEST(ParseDocument, TakesOneSchemaOnly) {
  EXPECT_TRUE(parse_document(document(100), "a/1"));
  EXPECT_FALSE(parse_document(document(100), "a/2"));
  EXPECT_FALSE(parse_document("[]", "a/1"));
  EXPECT_FALSE(parse_document(R"({"schema":"a/1")", "a/1"));
}

}  // namespace
}  // namespace plimsoll::report
