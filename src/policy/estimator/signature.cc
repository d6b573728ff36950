#include "policy/estimator/signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "policy/estimator/program.h"
#include "policy/job/among.h"

namespace plimsoll::policy {
namespace {

// Longer than any set of options that people write by hand; what is beyond tells nothing more.
constexpr std::size_t kSignatureMax = 240;
// Extensions of files are short; what is longer is part of a name.
constexpr std::size_t kExtensionMax = 6;

// Their first operand says what they do.
constexpr auto kWithSubcommand = std::to_array<std::string_view>(
    {"apt-get", "bcftools", "bedtools", "bwa", "bwa-mem2",  "cargo",  "cmake", "conda",
     "docker",  "dotnet",   "gatk",     "git", "go",        "gradle", "helm",  "kubectl",
     "meson",   "mvn",      "npm",      "npx", "openssl",   "picard", "pip",   "pnpm",
     "podman",  "samtools", "seqkit",   "svn", "systemctl", "uv",     "yarn",  "zig"});
constexpr auto kCompilers =
    std::to_array<std::string_view>({"gcc", "g++", "cc", "c++", "clang", "clang++", "nvcc"});
// Their value is the next word and tells nothing of the work: outputs, directories, counts.
constexpr auto kIgnoredWithValue = std::to_array<std::string_view>(
    {"-o", "--output", "--out", "--outdir", "--output-dir", "-C",       "--directory",
     "-I", "-L",       "-MF",   "-MT",      "-MQ",          "-isystem", "-include",
     "-j", "--jobs",   "-D",    "-U",       "--log",        "--tmpdir"});
// Likewise, with the value in the same word.
constexpr auto kIgnoredPrefixes = std::to_array<std::string_view>(
    {"-I", "-L", "-D", "-U", "-W", "-M", "-j", "-isystem", "-fdebug-prefix-map", "-Wl,-rpath"});

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// A word of language, not a path, a number or the name of a sample.
bool is_plain(std::string_view word) {
  return !word.empty() && is_letter(word.front()) &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return is_letter(c) || c == '-' || c == '_' || c == '+'; });
}

// "*.cpp" of "src/a.cpp"; empty if the name has no extension that looks like one.
std::string kind_of_file(std::string_view word) {
  const std::string_view name = base_name(word);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view extension = name.substr(dot + 1);
  const bool looks_like_one = !extension.empty() && extension.size() <= kExtensionMax &&
                              is_letter(extension.front()) &&
                              std::all_of(extension.begin(), extension.end(),
                                          [](char c) { return is_letter(c) || is_digit(c); });
  return looks_like_one ? "*." + std::string(extension) : std::string();
}

// An option as it is kept. A single digit is a level (-O2, -9); longer numbers are sizes and
// counts, which differ between jobs of a kind, but for the heap of a Java machine.
std::string option_kept(std::string_view option) {
  const std::size_t equals = option.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view value = option.substr(equals + 1);
    const bool kept = is_plain(value) || option.substr(0, equals) == "-std";
    return std::string(option.substr(0, kept ? option.size() : equals));
  }
  constexpr std::size_t kLevelLength = 3;
  if (option.size() <= kLevelLength || option.substr(0, 3) == "-Xm") return std::string(option);
  if (option.find('/') != std::string_view::npos) return std::string(option.substr(0, 2));
  std::string kept;
  for (const char c : option) {
    if (!is_digit(c)) kept += c;
  }
  return kept;
}

bool is_ignored(std::string_view option) {
  return std::any_of(
      kIgnoredPrefixes.begin(), kIgnoredPrefixes.end(),
      [option](std::string_view prefix) { return option.substr(0, prefix.size()) == prefix; });
}

// What is left of the arguments, each once and sorted: their order and number tell little.
std::set<std::string> normalised(const std::vector<std::string>& arguments) {
  std::set<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (among(kIgnoredWithValue, word)) {
      ++i;
    } else if (word.size() > 1 && word.front() == '-') {
      const bool number =
          std::all_of(word.begin() + 1, word.end(), [](char c) { return is_digit(c) || c == '.'; });
      if (!is_ignored(word) && (!number || word.size() == 2)) kept.insert(option_kept(word));
    } else if (is_plain(word)) {
      kept.insert(word);
    } else if (std::string kind = kind_of_file(word); !kind.empty()) {
      kept.insert(std::move(kind));
    }
  }
  return kept;
}

// What the program is to do, where its arguments say so: " -c", " link", " sort".
std::string kind_of(const Program& program) {
  const auto has = [&program](std::string_view word) {
    return std::find(program.arguments.begin(), program.arguments.end(), word) !=
           program.arguments.end();
  };
  if (!program.script.empty()) return " " + program.script;
  if (among(kCompilers, program.name)) {
    return has("-c") || has("-S") || has("-E") || has("-fsyntax-only") ? " -c" : " link";
  }
  if (!among(kWithSubcommand, program.name)) return {};
  for (std::size_t i = 0; i < program.arguments.size(); ++i) {
    const std::string& word = program.arguments[i];
    if (among(kIgnoredWithValue, word)) {
      ++i;
    } else if (is_plain(word)) {
      return " " + word;
    }
  }
  return {};
}

// FNV-1a over texts, each with its length: "a","bc" is not "ab","c".
class Digest {
 public:
  void add(std::string_view text) {
    for (std::size_t size = text.size(), i = 0; i < sizeof size; ++i, size >>= 8U)
      byte(size & 255U);
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  // As add(), eight bytes at once.
  void add_run(std::string_view text) {
    byte(text.size());
    for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, text.data(), sizeof eight);
      byte(eight);
      value_ ^= value_ >> 32U;  // a multiplication alone carries nothing down
    }
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void byte(std::uint64_t one) { value_ = (value_ ^ one) * 0x100000001b3U; }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

// The first words one by one, and what follows them as it lies in memory: of the longest commands
// that takes a tenth of the time.
void add_words(Digest& digest, const Words& words) {
  constexpr std::size_t kOneByOne = 4096;
  auto at = words.begin();
  for (std::size_t i = 0; i < kOneByOne && at != words.end(); ++i, ++at) digest.add(*at);
  if (at != words.end()) digest.add_run(words.from(at));
}

std::uint64_t digest_of(const JobSpec& job, std::string_view directory) {
  Digest digest;
  if (const auto* shell = std::get_if<std::string>(&job.command)) {
    if (shell->empty()) return 0;
    digest.add("sh");
    digest.add(*shell);
  } else {
    const auto& words = std::get<Words>(job.command);
    if (words.empty()) return 0;
    add_words(digest, words);
  }
  const bool is_absolute = !job.cwd.empty() && job.cwd.front() == '/';
  digest.add(is_absolute ? std::string_view() : directory);
  digest.add(job.cwd);
  digest.add(job.job_class);
  if (job.owner) digest.add(std::to_string(*job.owner));
  // A name that is the number is none of the user's: the same command stands elsewhere next time.
  if (job.name != std::to_string(static_cast<std::uint64_t>(job.id))) digest.add(job.name);
  for (const auto& [name, value] : job.env) {
    digest.add(name);
    digest.add(value);
  }
  return digest.value() != 0 ? digest.value() : 1;
}

}  // namespace

Key key_of(const Command& command) {
  const Program program = program_of(command);
  Key key;
  key.tool = (program.name + kind_of(program)).substr(0, kSignatureMax);
  key.exact = key.tool;
  for (const std::string& word : normalised(program.arguments)) {
    if (key.exact.size() + 1 + word.size() > kSignatureMax) break;
    if (key.tool.size() > word.size() && key.tool.ends_with(" " + word)) continue;
    key.exact += " " + word;
  }
  return key;
}

Key key_of(const JobSpec& job, std::string_view directory) {
  Key key = key_of(job.command);
  key.owner = job.owner;
  key.command = digest_of(job, directory);
  if (!job.job_class.empty()) key.exact = job.job_class;
  return key;
}

}  // namespace plimsoll::policy
