#include "cli/command.h"
namespace plimsoll::cli { int batch_command(int, char**) { return 125; } int reap_command(int, char**) { return 125; } }
