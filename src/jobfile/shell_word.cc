#include "jobfile/shell_word.h"

namespace plimsoll::jobfile {
namespace {

// Bytes above ASCII are parts of letters; a backslash between them would break the letter in shells
// that know of encodings.
bool plain(char c) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%";
  return static_cast<unsigned char>(c) >= 0x80 || kPlain.find(c) != std::string_view::npos;
}

}  // namespace

void append_shell_word(std::string& text, std::string_view value) {
  if (value.empty()) text += "''";
  for (const char c : value) {
    if (c == '\n') {
      text += "'\n'";  // after a backslash a newline would vanish
      continue;
    }
    if (!plain(c)) text += '\\';
    text += c;
  }
}

}  // namespace plimsoll::jobfile
