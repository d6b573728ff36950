#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/report.h"
#include "report/top_jobs.h"

// Reports for people, as text that ends with a newline. What is not known is left out; text from
// outside can't control the terminal.
namespace plimsoll::report {

enum class Colour : std::uint8_t { none, ansi };
enum class Detail : std::uint8_t {
  normal,
  verbose,  // also why figures are missing
};

struct TextStyle {
  std::size_t width = 80;  // columns; single long words may exceed it
  Colour colour = Colour::none;
  Detail detail = Detail::normal;
};

// What `plimsoll run` says of its command: a line on how it ended, and one on each resource.
[[nodiscard]] std::string job_summary(const JobReport& report, const TextStyle& style);

// Which of the heaviest jobs: by one weight, those whose peak of memory is not below `from`.
struct Heaviest {
  Weight by{};
  Bytes from{};
};

// Their table, with a heading; empty if there are none.
[[nodiscard]] std::string heaviest_table(const TopJobs& top_jobs, const Heaviest& which,
                                         const TextStyle& style);

// The tables by each weight, but for those in which there is no job that an earlier one has not.
[[nodiscard]] std::string heaviest_tables(const TopJobs& top_jobs, const TextStyle& style);

// What `plimsoll batch` says at its end: how many jobs ended how, the figures of the run, and the
// jobs that failed with their reasons, kFailedListedMax at most. For `plimsoll govern` it says how
// the command ended and how many steps that had, and lists none.
[[nodiscard]] std::string run_text(const RunSummary& summary, const TopJobs& top_jobs,
                                   const TextStyle& style);

}  // namespace plimsoll::report
