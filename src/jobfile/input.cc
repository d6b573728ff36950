#include "jobfile/input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "jobfile/columns.h"
#include "jobfile/combinations.h"
#include "jobfile/format.h"
#include "jobfile/header.h"
#include "jobfile/job_file.h"
#include "jobfile/limits.h"
#include "jobfile/place.h"
#include "jobfile/sources.h"
#include "jobfile/spec.h"
#include "jobfile/template.h"

namespace plimsoll::jobfile {
namespace {

using Jobs = std::vector<policy::JobSpec>;

// What errors call the input "-".
constexpr char kStandardInputName[] = "standard input";

constexpr std::size_t kFirstRead = 64 << 10;

// With read(2), not pread(2): a pipe has no positions.
Result<std::string> read_to_end(int fd, const std::string& name) {
  std::string text;
  std::size_t size = 0;
  for (;;) {
    if (size == text.size()) text.resize(std::max(kFirstRead, size * 2));
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + name);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > kInputBytesMax) return fail(std::errc::file_too_large, "read " + name);
  }
  text.resize(size);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

// The whole text of the file `name`, or of the descriptor `standard_input` where `name` is "-".
// Reads regular files, pipes and terminals to their end and blocks until then. Errors name the
// file; more than kInputBytesMax is one.
Result<std::string> read_input(const std::string& name, int standard_input) {
  if (name == "-") return read_to_end(standard_input, kStandardInputName);
  auto file = open_at(AT_FDCWD, name, O_RDONLY);
  if (!file) return pass(std::move(file));
  return read_to_end(file->get(), name);
}

std::string shown_name(const std::string& file) { return file == "-" ? kStandardInputName : file; }

Result<Input> read_job_file(const InputOptions& options) {
  const std::string file = options.file.value_or("-");
  const auto text = read_input(file, options.standard_input);
  if (!text) return tl::unexpected(text.error());
  const std::string name = shown_name(file);
  const bool lines = options.separator == Separator::newline;
  if (lines && options.format != Format::text) {
    if (auto checked = check_is_lines(*text, name); !checked) return pass(std::move(checked));
    if (!options.format) {
      if (auto checked = check_is_not_foreign(*text, name); !checked)
        return pass(std::move(checked));
    }
  }
  const Format guess = lines ? detect_format(*text) : Format::text;
  const bool plain = options.format.value_or(guess) == Format::text;
  auto jobs = plain ? parse_text_jobs(*text, name, options.separator, options.defaults)
                    : parse_jsonl_jobs(*text, name, options.defaults);
  if (!jobs) return pass(std::move(jobs));
  Input input{.jobs = std::move(*jobs), .warnings = {}};
  if (plain && lines) {
    if (auto warning = warning_of_text(*text, name)) input.warnings.push_back(std::move(*warning));
  }
  return input;
}

// Options that say contradictory things, before anything is read.
Result<void> check_options(const InputOptions& options) {
  if (options.max_args == 0) return fail("--max-args: found 0, expected 1 or more");
  if (options.replaced.empty())
    return fail("-I: found an empty text, expected a replacement string such as {}");
  if (options.words) {
    if (options.file) {
      return fail("found the job file " + *options.file +
                  " and a command after --, expected one of them (-a FILE reads arguments)");
    }
    if (options.format) {
      return fail("--format: found a command after --, expected a job file");
    }
    return {};
  }
  if (options.separator == Separator::nul && options.format == Format::jsonl) {
    return fail("-0: found --format jsonl, expected plain text");
  }
  const bool arguments = !options.argument_files.empty() || options.colsep ||
                         options.max_args != 1 || options.replaced != "{}" || options.header;
  if (arguments) {
    return fail("-a, --colsep, --header, -I and -n: found no command, expected one after --");
  }
  return {};
}

Result<Row> columns_of(std::string_view record, const std::optional<ColumnSplitter>& splitter) {
  if (record.size() > kWordBytesMax) {
    return fail("found a line of " + std::to_string(record.size()) + " bytes, expected at most " +
                std::to_string(kWordBytesMax) +
                ", the kernel's limit for one argument (MAX_ARG_STRLEN)");
  }
  return splitter ? splitter->split(record) : Row{std::string(record)};
}

// Adds a row to `source`.
Result<void> add_row(std::string_view record, const InputOptions& options,
                     const std::optional<ColumnSplitter>& splitter, Source& source) {
  auto row = columns_of(record, splitter);
  if (!row) return pass(std::move(row));
  if (options.header) {
    if (auto even = check_width(source, *row); !even) return even;
  }
  source.rows.push_back(std::move(*row));
  return check_job_count(source.rows.size());
}

std::string place_of_value(std::size_t number) {
  return "value " + std::to_string(number) + " of :::";
}

// Where the row that names the columns stands.
std::string place_of_header(const SourceSpec& spec) {
  return spec.kind == SourceSpec::Kind::words ? place_of_value(1)
                                              : where({shown_name(spec.file), 1});
}

Result<Source> load(const SourceSpec& spec, const InputOptions& options,
                    const std::optional<ColumnSplitter>& splitter) {
  Source source{.joining = spec.joining, .rows = {}};
  if (spec.kind == SourceSpec::Kind::words) {
    for (const std::string& word : spec.words) {
      auto added = add_row(word, options, splitter, source);
      if (!added) {
        return pass(std::move(added), place_of_value(source.rows.size() + 1));
      }
    }
    return source;
  }
  const auto text = read_input(spec.file, options.standard_input);
  if (!text) return tl::unexpected(text.error());
  const std::string name = shown_name(spec.file);
  const auto records = split_records(*text, name, options.separator);
  if (!records) return tl::unexpected(records.error());
  for (const Record& record : *records) {
    auto added = add_row(record.text, options, splitter, source);
    if (!added) return pass(std::move(added), where({name, record.number}));
  }
  return source;
}

// With --header `names` are what the values of a combination are called.
Result<Combinations> load_all(const std::vector<SourceSpec>& specs, const InputOptions& options,
                              std::vector<std::string>& names) {
  std::optional<ColumnSplitter> splitter;
  if (options.colsep) {
    auto parsed = ColumnSplitter::parse(*options.colsep);
    if (!parsed) return pass(std::move(parsed));
    splitter = std::move(*parsed);
  }
  const auto standard_input = [](const SourceSpec& spec) { return spec.file == "-"; };
  if (std::count_if(specs.begin(), specs.end(), standard_input) > 1) {
    return fail("found standard input in more than one source, expected it in one");
  }
  std::vector<Source> sources;
  for (const SourceSpec& spec : specs) {
    auto source = load(spec, options, splitter);
    if (!source) return pass(std::move(source));
    if (options.header) {
      if (auto taken = take_names(*source, place_of_header(spec), names); !taken)
        return pass(std::move(taken));
    }
    sources.push_back(std::move(*source));
  }
  return Combinations::of(std::move(sources));
}

// What probably was not meant, once a run.
void warn_of_quotes(const CommandTemplate& command, const policy::JobSpec& job, Input& input) {
  if (!input.warnings.empty()) return;
  const auto value = command.spoilt_by_quotes(job.arguments);
  if (!value) return;
  input.warnings.push_back(
      "job " + job.name + ": the template has quotes around the replacement string of \"" + *value +
      "\", which is already quoted and therefore gets backslashes; write {} without quotes around "
      "it");
}

Result<Input> read_template(const InputOptions& options) {
  auto words = split_batch_words(*options.words, options.argument_files);
  if (!words) return pass(std::move(words));
  if (words->sources.empty()) {
    words->sources.push_back({.kind = SourceSpec::Kind::file, .file = "-"});
  }
  TemplateWords called{.all = options.replaced, .names = {}};
  const auto rows = load_all(words->sources, options, called.names);
  if (!rows) return tl::unexpected(rows.error());
  if (options.header) {
    if (auto known = check_names(words->command, called); !known) return pass(std::move(known));
  }
  const auto command = CommandTemplate::parse(words->command, called);
  if (!command) return tl::unexpected(command.error());
  if (auto fits = check_job_count(rows->count()); !fits)
    return pass(std::move(fits), "the sources");
  Input input;
  Jobs& jobs = input.jobs;
  jobs.reserve(rows->count() / options.max_args + 1);
  for (std::uint64_t index = 0; index < rows->count();) {
    policy::JobSpec job = numbered(options.defaults, jobs.size() + 1);
    for (std::uint64_t n = 0; n < options.max_args && index < rows->count(); ++n, ++index) {
      const Row row = rows->at(index);
      job.arguments.insert(job.arguments.end(), row.begin(), row.end());
    }
    job.command = command->fill(job.arguments, jobs.size() + 1);
    if (auto fits = check_lengths(job.command); !fits) {
      return pass(std::move(fits), "job " + job.name);
    }
    warn_of_quotes(*command, job, input);
    jobs.push_back(std::move(job));
  }
  return input;
}

}  // namespace

bool reads_standard_input(const InputOptions& options) {
  if (!options.words) return options.file.value_or("-") == "-";
  const auto words = split_batch_words(*options.words, options.argument_files);
  if (!words) return false;
  const auto& sources = words->sources;
  return sources.empty() || std::any_of(sources.begin(), sources.end(),
                                        [](const SourceSpec& spec) { return spec.file == "-"; });
}

Result<Input> read_jobs(const InputOptions& options) {
  if (auto consistent = check_options(options); !consistent) return pass(std::move(consistent));
  return options.words ? read_template(options) : read_job_file(options);
}

}  // namespace plimsoll::jobfile
