#include "kernel/counters/parse_memory.h"

#include <array>
#include <span>

#include "base/text.h"
#include "kernel/counters/parse_single.h"

namespace plimsoll::counters {
namespace {

struct BytesField {
  std::string_view key;
  std::optional<Bytes> MemoryStat::* member;
};
struct CountField {
  std::string_view key;
  std::optional<std::uint64_t> MemoryStat::* member;
};

constexpr std::array kBytesV2 = {
    BytesField{"anon", &MemoryStat::anon},
    BytesField{"file", &MemoryStat::file},
    BytesField{"kernel", &MemoryStat::kernel},
    BytesField{"kernel_stack", &MemoryStat::kernel_stack},
    BytesField{"pagetables", &MemoryStat::page_tables},
    BytesField{"sock", &MemoryStat::sock},
    BytesField{"vmalloc", &MemoryStat::vmalloc},
    BytesField{"shmem", &MemoryStat::shmem},
    BytesField{"file_mapped", &MemoryStat::file_mapped},
    BytesField{"file_dirty", &MemoryStat::file_dirty},
    BytesField{"file_writeback", &MemoryStat::file_writeback},
    BytesField{"inactive_file", &MemoryStat::inactive_file},
    BytesField{"slab", &MemoryStat::slab},
    BytesField{"slab_reclaimable", &MemoryStat::slab_reclaimable},
};
constexpr std::array kCountsV2 = {
    CountField{"pgscan", &MemoryStat::pgscan},
    CountField{"pgsteal", &MemoryStat::pgsteal},
    CountField{"pgfault", &MemoryStat::pgfault},
    CountField{"pgmajfault", &MemoryStat::pgmajfault},
};
constexpr std::array kBytesV1 = {
    BytesField{"total_rss", &MemoryStat::anon},
    BytesField{"total_cache", &MemoryStat::file},
    BytesField{"total_shmem", &MemoryStat::shmem},
    BytesField{"total_mapped_file", &MemoryStat::file_mapped},
    BytesField{"total_dirty", &MemoryStat::file_dirty},
    BytesField{"total_writeback", &MemoryStat::file_writeback},
    BytesField{"total_inactive_file", &MemoryStat::inactive_file},
};
constexpr std::array kCountsV1 = {
    CountField{"total_pgfault", &MemoryStat::pgfault},
    CountField{"total_pgmajfault", &MemoryStat::pgmajfault},
};

void store(const KeyedNumber& line, std::span<const BytesField> sizes,
           std::span<const CountField> counts, MemoryStat& stat) {
  for (const BytesField& field : sizes) {
    if (line.key == field.key) stat.*field.member = Bytes{line.value};
  }
  for (const CountField& field : counts) {
    if (line.key == field.key) stat.*field.member = line.value;
  }
}

std::optional<Bytes> sum(std::initializer_list<std::optional<Bytes>> parts) {
  Bytes total;
  for (const auto& part : parts) {
    if (!part) return std::nullopt;
    total += *part;
  }
  return total;
}

}  // namespace

MemoryStat parse_memory_stat_v2(std::string_view text) {
  MemoryStat stat;
  while (const auto line = take_keyed_number(text)) store(*line, kBytesV2, kCountsV2, stat);
  return stat;
}

MemoryStatV1 parse_memory_stat_v1(std::string_view text) {
  MemoryStatV1 result;
  while (const auto line = take_keyed_number(text)) {
    store(*line, kBytesV1, kCountsV1, result.stat);
    if (line->key == "total_swap") result.swap = Bytes{line->value};
  }
  return result;
}

std::optional<Bytes> used_of(const MemoryStat& stat) {
  const auto kernel =
      stat.kernel ? stat.kernel : sum({stat.slab, stat.kernel_stack, stat.page_tables});
  const auto held = sum({stat.anon, stat.shmem, stat.file_dirty, stat.file_writeback});
  if (!kernel || !held) return std::nullopt;
  return *held + (*kernel - stat.slab_reclaimable.value_or(Bytes{}));
}

MemoryEvents parse_memory_events(std::string_view text) {
  MemoryEvents events;
  while (const auto line = take_keyed_number(text)) {
    if (line->key == "low") events.low = line->value;
    if (line->key == "high") events.high = line->value;
    if (line->key == "max") events.max = line->value;
    if (line->key == "oom") events.oom = line->value;
    if (line->key == "oom_kill") events.oom_kill = line->value;
    if (line->key == "oom_group_kill") events.oom_group_kill = line->value;
  }
  return events;
}

OomControl parse_oom_control(std::string_view text) {
  OomControl control;
  while (const auto line = take_keyed_number(text)) {
    if (line->key == "oom_kill_disable") control.kill_disabled = line->value != 0;
    if (line->key == "under_oom") control.under_oom = line->value != 0;
    if (line->key == "oom_kill") control.oom_kill = line->value;
  }
  return control;
}

std::optional<Bytes> parse_limit_v1(std::string_view text) {
  const auto limit = parse_bytes(text);
  if (!limit || *limit > kV1LimitMax) return std::nullopt;
  return limit;
}

}  // namespace plimsoll::counters
