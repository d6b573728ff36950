#pragma once

#include "policy/job/job.h"

// What a priority is worth beside the order of admission.
namespace plimsoll::policy {

// Each step is worth a quarter more CPU time, as a step of nice(1) is.
inline constexpr double kWeightStep = 1.25;
// The range of the kernel's weights, and its default, which is that of priority 0 (cgroup-v2).
inline constexpr unsigned kWeightLeast = 1, kWeightDefault = 100, kWeightMost = 10'000;

// The weight of CPU and I/O for a priority; beyond what the kernel takes, its least or most.
[[nodiscard]] unsigned weight_of(int priority);

// The limits of a job, with the weight that its priority stands for unless that is 0.
[[nodiscard]] Limits weighted_limits(const JobSpec& job);

}  // namespace plimsoll::policy
