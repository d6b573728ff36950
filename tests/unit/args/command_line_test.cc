#include "args/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "args/parsing.h"

namespace plimsoll::args {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

// The options of a command of many kinds.
struct Command {
  Command() {
    app.add_option("FILE", file, "What to read");
    app.add_option("-j,--jobs", jobs, "How many")->type_name("N");
    app.add_option("--memory-max", memory, "How much")->type_name("SIZE");
    app.add_option("--cgroup", cgroup, "Where")->type_name("PATH");
    app.add_option("--old", old, "Not listed")->group("");
    app.add_flag("-q,--quiet", quiet, "Nothing is said");
    app.add_flag("-0", null, "NUL");
    app.add_option("--class", job_class, "Alike")->type_name("NAME")->group("Each job");
  }
  std::string mistake(const Words& words) const {
    return read_command_line(app, words).mistake.value_or("none");
  }
  std::vector<std::size_t> plain(const Words& words) const {
    const CommandLine line = read_command_line(app, words);
    EXPECT_FALSE(line.mistake) << *line.mistake;
    return line.plain;
  }

  CLI::App app{"Does it.", "do"};
  std::string file, jobs, memory, cgroup, old, job_class;
  bool quiet = false, null = false;
};

TEST(ReadCommandLine, KnowsWordsFromOptionsAndTheirValues) {
  const Command command;
  EXPECT_THAT(command.plain({"-j4", "file"}), ElementsAre(1));
  EXPECT_THAT(command.plain({"-j", "4", "file", "-q"}), ElementsAre(2));
  EXPECT_THAT(command.plain({"-qj", "4", "--jobs=5", "--jobs", "-6", "--class", "a"}), IsEmpty());
  EXPECT_THAT(command.plain({"-q0", "-"}), ElementsAre(1));
  EXPECT_THAT(command.plain({"-1"}), ElementsAre(0)) << "a number, as there is no such option";
}

TEST(HelpFormatter, SetsOneBlankLineBetweenParts) {
  Command command;
  command.app.footer("Examples:\n  plimsoll do\n");
  command.app.formatter(std::make_shared<HelpFormatter>());
  const std::string help = command.app.help();
  EXPECT_THAT(help, ::testing::HasSubstr("\n\nEach job:\n"));
  EXPECT_THAT(help, ::testing::HasSubstr("\n\nExamples:\n"));
  EXPECT_THAT(help, ::testing::Not(::testing::HasSubstr("\n\n\n")));
}

TEST(ReadCommandLine, AnUnknownOptionIsToldWithTheOneThatWasMeant) {
  const Command command;
  EXPECT_EQ(command.mistake({"--memmax", "1G"}),
            "there is no option \"--memmax\"; did you mean --memory-max?");
  EXPECT_EQ(command.mistake({"--memory=1G"}),
            "there is no option \"--memory\"; did you mean --memory-max?");
  EXPECT_EQ(command.mistake({"--clsas", "x"}),
            "there is no option \"--clsas\"; did you mean --class?");
  EXPECT_EQ(command.mistake({"-x"}), "there is no option \"-x\"; `plimsoll do --help` lists them");
  EXPECT_EQ(command.mistake({"-qx4"}),
            "there is no option \"-x\"; `plimsoll do --help` lists them");
  EXPECT_EQ(command.mistake({"--odl"}),
            "there is no option \"--odl\"; `plimsoll do --help` lists them")
      << "what is not listed is no advice";
  EXPECT_EQ(command.mistake({"--help"}), "none");
}

TEST(ReadCommandLine, WhoCallsMayKnowTheOption) {
  const Command command;
  const auto hint = [](std::string_view option) {
    return option == "--pipe" ? std::optional<std::string>("not here") : std::nullopt;
  };
  EXPECT_EQ(read_command_line(command.app, {"--pipe"}, hint).mistake,
            "there is no option \"--pipe\": not here");
}

TEST(ReadCommandLine, AnOptionThatTakesNoValueElsewhereIsExplained) {
  const Command command;
  const auto hint = [](std::string_view option) {
    return option == "--jobs" ? std::optional<std::string>("it is another one") : std::nullopt;
  };
  const auto mistake = [&](const Words& words) {
    return read_command_line(command.app, words, hint).mistake.value_or("none");
  };
  const std::string told = "--jobs needs a number: without a value it is another one";
  EXPECT_EQ(mistake({"--jobs"}), told);
  EXPECT_EQ(mistake({"--jobs", "-q"}), told);
  EXPECT_EQ(mistake({"--jobs", "4"}), "none");
  EXPECT_EQ(mistake({"--jobs=4", "-q"}), "none");
  EXPECT_EQ(mistake({"--class", "-q"}), "none");
}

TEST(ReadCommandLine, AValueThatIsMissingIsToldWithWhatItIs) {
  const Command command;
  EXPECT_EQ(command.mistake({"--memory-max"}), "--memory-max needs a size, such as 512M");
  EXPECT_EQ(command.mistake({"--cgroup"}), "--cgroup needs a path");
  EXPECT_EQ(command.mistake({"-qj"}), "-j needs a number");
}

TEST(ReadCommandLine, AWordTooManyIsTold) {
  const Command command;
  EXPECT_EQ(command.mistake({"a", "-q", "b"}), "found \"b\", expected nothing more");
}

TEST(ReadCommandLine, NothingFollowsHelpButASubcommand) {
  const Command command;
  EXPECT_EQ(command.mistake({"--help", "--memmax"}),
            "found \"--memmax\" after --help, expected nothing more");
  EXPECT_EQ(command.mistake({"-qh", "a"}), "found \"a\" after -qh, expected nothing more");
  EXPECT_EQ(command.mistake({"a", "--help"}), "none") << "what stands before is not looked at";
  CLI::App app("Steers it.", "ctl");
  app.add_subcommand("status", "How it is");
  EXPECT_EQ(read_command_line(app, {"--help", "status"}).mistake, std::nullopt);
  EXPECT_EQ(read_command_line(app, {"status", "--help"}).mistake, std::nullopt);
  EXPECT_EQ(read_command_line(app, {"--help", "status", "x"}).mistake,
            "found \"x\" after status, expected nothing more");
}

TEST(ReadCommandLine, SubcommandsHaveWordsOfTheirOwn) {
  std::string word, run;
  CLI::App app("Steers it.", "ctl");
  app.fallthrough();
  app.add_option("--run", run, "Which")->type_name("RUN");
  app.add_subcommand("status", "How it is");
  app.add_subcommand("pause", "Stop it")->add_option("JOB", word);
  EXPECT_EQ(read_command_line(app, {"pause", "3", "--run", "x"}).mistake, std::nullopt);
  EXPECT_EQ(read_command_line(app, {"statsu"}).mistake,
            "found \"statsu\", expected one of status, pause; did you mean status?");
  EXPECT_EQ(read_command_line(app, {"--run", "x"}).mistake,
            "found nothing, expected one of status, pause");
  EXPECT_EQ(read_command_line(app, {"status", "3"}).mistake, "found \"3\", expected nothing more");
}

TEST(ReadCommandLine, OfACommandAfterTheOptionsTheFirstWordIsLookedAt) {
  CLI::App app("Runs it.", "run");
  app.prefix_command();
  bool quiet = false;
  app.add_flag("-q", quiet);
  const CommandLine line = read_command_line(app, {"-q", "ls", "--all"});
  EXPECT_EQ(line.mistake, std::nullopt);
  EXPECT_THAT(line.plain, ElementsAre(1));
}

TEST(Help, LinesEndAtColumn80) {
  Command command;
  command.app
      .add_option("--long-name", command.old,
                  "So many words that they do not fit beside the name of the option, and go on "
                  "below where they began")
      ->type_name("DEVICE:RATE,...");
  command.app.formatter(std::make_shared<HelpFormatter>());
  const std::string help = command.app.help();
  EXPECT_THAT(help, testing::HasSubstr("  -j,--jobs N               How many\n"));
  EXPECT_THAT(help, testing::HasSubstr(
                        "  --long-name DEVICE:RATE,...\n"
                        "                            So many words that they do not fit beside the "
                        "name\n"
                        "                            of the option, and go on below where they "
                        "began\n"));
  EXPECT_THAT(help, testing::Not(testing::HasSubstr("--old")));
  command.app.formatter(std::make_shared<HelpFormatter>("do [OPTIONS] -- COMMAND"));
  EXPECT_THAT(command.app.help(), testing::HasSubstr("Usage: do [OPTIONS] [FILE]\n"
                                                     "       do [OPTIONS] -- COMMAND\n"));
}

}  // namespace
}  // namespace plimsoll::args
