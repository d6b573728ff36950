#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/advice.h"

// Advice as text: for people, for programs, and in the languages of those who take requests, to be
// pasted there (docs/advise.md). Names of classes come from outside: they end no comment, no string
// and no line.
namespace plimsoll::analysis {

enum class AdviceFormat : std::uint8_t { text, json, slurm, snakemake, nextflow, kubernetes };
[[nodiscard]] std::optional<AdviceFormat> advice_format(std::string_view name);

// What the advice rests on, in words: "run 20261121-...", "the history".
struct AdviceSource {
  std::string words;
  std::size_t width = 80;  // columns of a table for people
};

// Ends with a newline.
[[nodiscard]] std::string advice_text(const Advice& advice, AdviceFormat format,
                                      const AdviceSource& source);

}  // namespace plimsoll::analysis
