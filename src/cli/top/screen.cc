#include "cli/top/screen.h"

#include <curses.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <string_view>

#include "cli/progress/terminal.h"
#include "report/plain.h"

namespace plimsoll::cli::top {
namespace {

// Ncurses' numbers of pairs of colours.
constexpr short kGood = 1, kWarning = 2, kBad = 3;

// As long as a terminal may take to send the rest of a key that begins with Esc.
constexpr int kEscapeDelayMs = 25;

attr_t attributes_of(Tone tone, bool has_colours) {
  const auto tinted = [has_colours](short pair, attr_t without) {
    return has_colours ? static_cast<attr_t>(COLOR_PAIR(pair)) : without;
  };
  switch (tone) {
    case Tone::plain: return A_NORMAL;
    case Tone::strong: return A_BOLD;
    case Tone::faint: return has_colours ? A_DIM : A_NORMAL;
    case Tone::good: return tinted(kGood, A_NORMAL);
    case Tone::warning: return tinted(kWarning, A_NORMAL);
    case Tone::bad: return tinted(kBad, A_BOLD);
  }
  return A_NORMAL;
}

bool use_colours() {
  if (terminal_colour() == report::Colour::none || !has_colors()) return false;
  start_color();
  use_default_colors();
  init_pair(kGood, COLOR_GREEN, -1);
  init_pair(kWarning, COLOR_YELLOW, -1);
  init_pair(kBad, COLOR_RED, -1);
  return true;
}

Key key_of(wint_t code) {
  switch (code) {
    case KEY_UP: return {.name = KeyName::up};
    case KEY_DOWN: return {.name = KeyName::down};
    case KEY_PPAGE: return {.name = KeyName::page_up};
    case KEY_NPAGE: return {.name = KeyName::page_down};
    case KEY_HOME: return {.name = KeyName::home};
    case KEY_END: return {.name = KeyName::end};
    case KEY_ENTER: return {.name = KeyName::enter};
    case KEY_BACKSPACE: return {.name = KeyName::backspace};
    default: return {};
  }
}

Key key_of_character(wint_t code) {
  constexpr wint_t kEscape = 27, kDelete = 127, kBackspace = 8, kFirstPrintable = 32;
  if (code == '\r' || code == '\n') return {.name = KeyName::enter};
  if (code == kEscape) return {.name = KeyName::escape};
  if (code == kDelete || code == kBackspace) return {.name = KeyName::backspace};
  if (code < kFirstPrintable) return {};
  std::array<char, MB_LEN_MAX> bytes{};
  std::mbstate_t state{};
  const std::size_t size = std::wcrtomb(bytes.data(), static_cast<wchar_t>(code), &state);
  if (size == static_cast<std::size_t>(-1)) return {};
  return {.name = KeyName::text, .text = std::string(bytes.data(), size)};
}

}  // namespace

bool has_screen() {
  const char* name = std::getenv("TERM");
  const bool is_named = name != nullptr && *name != '\0' && std::string_view(name) != "dumb";
  return is_named && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
}

Result<std::unique_ptr<Screen>> Screen::start() {
  // The characters alone: numbers are written in one way everywhere.
  std::setlocale(LC_CTYPE, "");
  const bool is_utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  screen* made = newterm(nullptr, stdout, stdin);
  if (made == nullptr) {
    return fail("nothing is known of terminals of the kind " + std::string(std::getenv("TERM")) +
                ", the value of TERM");
  }
  return std::unique_ptr<Screen>(new Screen(made, is_utf8 ? Glyphs::unicode : Glyphs::ascii));
}

Screen::Screen(screen* of, Glyphs glyphs)
    : screen_(of), glyphs_(glyphs), has_colours_(use_colours()) {
  cbreak();
  noecho();
  nonl();
  set_escdelay(kEscapeDelayMs);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  intrflush(stdscr, FALSE);
  curs_set(0);
}

Screen::~Screen() {
  leave();
  delscreen(screen_);
}

void Screen::draw(const Frame& frame) {
  erase();
  int row = 0;
  for (const Line& line : frame.lines) {
    const attr_t base = line.selected ? A_REVERSE : A_NORMAL;
    int column = 0;
    if (line.selected) mvhline(row, 0, static_cast<chtype>(' ') | A_REVERSE, COLS);
    for (const Span& span : line.spans) {
      attrset(static_cast<int>(
          base | (line.selected ? A_NORMAL : attributes_of(span.tone, has_colours_))));
      mvaddnstr(row, column, span.text.data(), static_cast<int>(span.text.size()));
      column += static_cast<int>(report::columns_of(span.text));
    }
    ++row;
  }
  attrset(A_NORMAL);
  refresh();
}

Screen::Input Screen::read() {
  Input input;
  wint_t code = 0;
  bool any = false;
  for (int kind = 0; (kind = get_wch(&code)) != ERR; any = true) {
    const Key key = kind == KEY_CODE_YES ? key_of(code) : key_of_character(code);
    if (key.name != KeyName::text || !key.text.empty()) input.keys.push_back(key);
  }
  int waiting = 0;
  // Ready, and nothing there: the terminal is gone.
  input.is_over = !any && (::ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0);
  return input;
}

void Screen::leave() { endwin(); }

void Screen::come_back() {
  reset_prog_mode();
  resize();
  clearok(curscr, TRUE);
}

void Screen::resize() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return;
  resizeterm(size.ws_row, size.ws_col);
  clearok(curscr, TRUE);
}

std::size_t Screen::width() const { return static_cast<std::size_t>(COLS); }
std::size_t Screen::height() const { return static_cast<std::size_t>(LINES); }

}  // namespace plimsoll::cli::top
