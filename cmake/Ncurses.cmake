# ncurses with wide characters, linked statically where its archives are: `plimsoll top` alone needs
# it, and every other command would load two libraries more at its start (src/cli/CMakeLists.txt).
# Its description of terminals, terminfo, is read from the host's files either way.
add_library(plimsoll_ncurses INTERFACE)
find_path(PLIMSOLL_NCURSES_INCLUDE NAMES ncursesw/curses.h curses.h REQUIRED)
find_library(PLIMSOLL_NCURSES NAMES libncursesw.a ncursesw REQUIRED)
# Some systems have terminfo in a library of its own, others in ncurses itself.
find_library(PLIMSOLL_TINFO NAMES libtinfo.a tinfo)
target_include_directories(plimsoll_ncurses SYSTEM INTERFACE ${PLIMSOLL_NCURSES_INCLUDE})
target_compile_definitions(plimsoll_ncurses INTERFACE NCURSES_WIDECHAR=1 NCURSES_NOMACROS)
target_link_libraries(plimsoll_ncurses INTERFACE ${PLIMSOLL_NCURSES})
if(PLIMSOLL_TINFO)
  target_link_libraries(plimsoll_ncurses INTERFACE ${PLIMSOLL_TINFO})
endif()
