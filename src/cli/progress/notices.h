#pragma once

#include <string>

namespace plimsoll::cli {

// Where people are told what they should know, one sentence at a time.
class Notices {
 public:
  Notices() = default;
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;
  virtual ~Notices() = default;
  virtual void note(const std::string& text) = 0;
};

}  // namespace plimsoll::cli
