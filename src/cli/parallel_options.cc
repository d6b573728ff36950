#include "cli/parallel_options.h"

#include "base/text.h"
#include "cli/command/jobs_at_once.h"
#include "cli/command/options.h"

namespace plimsoll::cli {
namespace {

struct Foreign {
  std::string_view options;  // separated by blanks
  std::string_view instead;
};

constexpr Foreign kForeign[] = {
    {"-N --max-replace-args -X -m --xargs -s --max-chars -L -l --max-lines",
     "-n N gives one job N values"},
    {"-d --delimiter", "lines end with a newline, or with NUL after -0"},
    {"-E --end-of-file -e --eof", "the input is read to its end"},
    {"-S --sshlogin --slf --sshloginfile --sshdelay --onall --nonall --transfer --transferfile "
     "--tf --trc --return --cleanup --basefile --bf --controlmaster --filter-hosts",
     "all jobs run on this machine"},
    {"--memfree --memsuspend --load --noswap --limit",
     "jobs are held and paused by what they use; --line, --reserve and --cores bound that"},
    {"--pipe --pipepart --pipe-part --spreadstdin --block --blocksize --cat --fifo --recstart "
     "--recend --regexp --rrs --remove-rec-sep --round-robin --roundrobin --tee --group-by",
     "jobs have no standard input; split(1) the data and give the parts as arguments"},
    {"--shuf", "give the values in another order with shuf(1), and --order input"},
    {"--link --xapply", "sources are linked by :::+ and ::::+"},
    {"--arg-sep --argsep --arg-file-sep --argfilesep", "sources begin with ::: and ::::"},
    {"--rpl --plus --extensionreplace --er -U --basenamereplace --bnr --basenameextensionreplace "
     "--bner --dirnamereplace --dnr --seqreplace --slotreplace",
     "the replacement strings are {} {.} {/} {//} {/.} {#} {%} {1}; -I sets another text for {}"},
    {"--quote --shellquote --shell-quote", "values are quoted for the shell; --dry-run shows how"},
    {"--trim", "only the columns of --colsep are trimmed"},
    {"--tagstring --tag-string --ctag --ctagstring", "--tag puts the arguments before each line"},
    {"--files --files0", "--results DIR keeps the output of each job in files"},
    {"--tmpdir --tempdir --compress --compress-program --decompress-program",
     "the output of running jobs is kept in $PLIMSOLL_TMPDIR"},
    {"--semaphore --sem --semaphorename --id --semaphoretimeout --st --bg --wait",
     "`plimsoll run --join -- COMMAND` waits until this machine has room for the command"},
    {"--process-slot-var", "$PARALLEL_JOBSLOT is the slot of a job"},
    {"-p --interactive --tty --open-tty -o --tmux --tmuxpane --fg",
     "jobs have no terminal; `plimsoll run` gives it to one command"},
    {"--use-cpus-instead-of-cores --use-cores-instead-of-threads --use-sockets-instead-of-threads",
     "--cores says how many cores all jobs together may use"},
    {"--progress", "a terminal shows progress by itself; --progress plain is for a log"},
    {"-x --exit", "a line that is too long is an error"},
    {"-V --version", "`plimsoll --version` prints the version"},
};

// An option that is taken and not listed.
CLI::Option* hidden(CLI::Option* option) { return option->group(""); }

void add_ignored(CLI::App& app, const std::string& names) {
  hidden(app.add_flag_callback(names, [] {}));
}

void add_output(CLI::App& app, const std::string& names, output::Order& order,
                output::Order chosen) {
  hidden(app.add_flag_callback(names, [&order, chosen] { order = chosen; }));
}

}  // namespace

void add_parallel_options(CLI::App& app, BatchOptions& options) {
  hidden(add_jobs_option(app, "-P,--max-procs", options.governor.jobs_max, "-j"))->type_name("N");
  hidden(app.add_option("-C", options.input.colsep, "--colsep"))->type_name("REGEX");
  hidden(app.add_option("--wd,--workdir", options.input.defaults.cwd, "--cwd"))->type_name("DIR");
  hidden(app.add_flag("--dryrun", options.dry_run));
  add_output(app, "--group", options.order, output::Order::group);
  add_output(app, "--lb,--linebuffer,-u,--ungroup", options.order, output::Order::line);
  // Empty input starts nothing, {} is {}, and a terminal shows progress.
  add_ignored(app, "-r,--no-run-if-empty");
  add_ignored(app, "-i");
  add_ignored(app, "--bar,--eta");
  add_ignored(app, "--will-cite");
}

std::optional<std::string> parallel_hint(std::string_view option) {
  for (const Foreign& foreign : kForeign) {
    std::string_view rest = foreign.options;
    while (!rest.empty()) {
      if (take_until(rest, ' ') == option) {
        return "it is an option of GNU parallel; here " + std::string(foreign.instead);
      }
    }
  }
  return std::nullopt;
}

}  // namespace plimsoll::cli
