#!/bin/bash
# plimsoll compare, from outside; its last line counts.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/recorded.bash"

case_of_the_same_run_nothing_has_changed() {
  record a
  gives 0 "$plimsoll" compare a a --fail-if 'peak > 0%' --fail-if 'time < -1%' --fail-if 'makespan > 0%'
  empty err
  has out 'No figure of a class has changed beyond noise.'
}

case_a_change_beyond_noise() {
  record a
  record b peak=1.2 time=0.5
  gives 0 "$plimsoll" compare a b --json
  told out 'r["schema"] == "plimsoll.comparison/1"' 'len(r["classes"]) == 1' \
    'abs(r["classes"][0]["peak"]["change_share"] - 0.2) < 0.001' 'r["classes"][0]["peak"]["beyond_noise"]' \
    'r["classes"][0]["peak"]["design"] == "paired"' 'r["classes"][0]["peak"]["count"] == 12' \
    'abs(r["classes"][0]["time"]["change_share"] + 0.5) < 0.001' \
    'r["run"]["evictions"] == {"before": 1, "after": 1}' 'r["breaches"] == []'
  gives 0 "$plimsoll" compare a b
  has out 'Changed beyond noise:'
  has out '+20.0 %'
}

case_the_exit_status_is_for_ci() {
  record a
  record b peak=1.2 failed=1
  gives 1 "$plimsoll" compare a b --fail-if 'peak > +10%'
  has err 'peak > +10%: class link: peak has changed by +20.0 %'
  gives 0 "$plimsoll" compare a b --fail-if 'peak > +30%' --fail-if 'other: peak > 10%'
  empty err
  gives 1 "$plimsoll" compare a b --fail-if 'link: peak > 10 %' --fail-if 'failed > 0' --json
  told out 'len(r["breaches"]) == 2'
  has err 'failed > 0: the run: failed is 1'
  gives 0 "$plimsoll" compare a b --fail-if 'failed > 1'
}

case_few_jobs_are_noise() {
  record a jobs=5
  record b jobs=5 peak=3
  gives 0 "$plimsoll" compare a b --fail-if 'peak > +10%'
  has out 'rest on too few jobs to tell a change from noise.'
  has out 'No figure of a class has changed beyond noise.'
}

case_classes_of_one_run_alone() {
  record a
  record b class=other
  gives 0 "$plimsoll" compare a b
  has out 'only in A'
  has out 'only in B'
}

case_mistakes_are_told() {
  record a
  gives 125 "$plimsoll" compare a a --fail-if 'weight > 10%'
  has err '--fail-if: found "weight > 10%", in which "weight" is not peak, time, cpu'
  gives 125 "$plimsoll" compare a a --fail-if 'peak > 10'
  has err '"10" is not a percentage'
  gives 125 "$plimsoll" compare a
  gives 125 "$plimsoll" compare a nothing
}

run_cases "$@"
