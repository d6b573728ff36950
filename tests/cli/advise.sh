#!/bin/bash
# plimsoll advise, from outside; its last line counts.
set -uo pipefail
source "$(dirname "$(realpath "$0")")/cases.bash"
source "$(dirname "$(realpath "$0")")/recorded.bash"

case_of_a_run() {
  record a
  gives 0 "$plimsoll" advise a
  empty err
  has out 'What to ask for, from run a:'
  has out link
  gives 0 "$plimsoll" advise a --format json
  # 480 MiB and a tenth of it, rounded up; twelve are too few for a bound.
  told out 'r["schema"] == "plimsoll.advice/1"' 'len(r["classes"]) == 1' \
    'r["classes"][0]["memory_bytes"] == 576 << 20' 'r["classes"][0]["basis"] == "most_seen"' \
    'r["classes"][0]["count"] == 12' 'r["classes"][0]["max_bytes"] == 480 << 20' \
    'abs(r["classes"][0]["confidence"] - (1 - 0.95 ** 12)) < 1e-9' \
    'abs(r["classes"][0]["asked"]["saved_byte_s"] - 12 * 4 * ((2048 - 576) << 20)) < 1e6'
}

case_enough_attempts_give_a_bound() {
  record a jobs=60
  gives 0 "$plimsoll" advise a --format json --quantile 0.9
  told out 'r["classes"][0]["basis"] == "bound"' 'r["classes"][0]["confidence"] >= 0.95' 'r["quantile"] == 0.9'
  gives 0 "$plimsoll" advise a --format json
  told out 'r["classes"][0]["basis"] == "bound"' 'r["classes"][0]["memory_bytes"] >= 2400 << 20'
}

case_of_the_history() {
  state
  gives 0 "$plimsoll" advise
  has out 'Nothing is known from the history.'
  run 0 --class step -- true
  gives 0 "$plimsoll" advise --format json
  told out 'r["classes"][0]["class"] == "step"' 'r["classes"][0]["count"] == 1'
  gives 0 "$plimsoll" advise --history --class 'st*' --format json
  told out 'len(r["classes"]) == 1'
  gives 125 "$plimsoll" advise --class 'x*'
  has err 'no class of the history matches "x*"'
}

case_each_format_is_that_of_its_reader() {
  record a
  gives 0 "$plimsoll" advise a --format slurm
  grep '^#SBATCH' out >told
  same $'#SBATCH --mem=576M\n#SBATCH --cpus-per-task=1\n#SBATCH --time=1' "$(<told)"
  gives 0 "$plimsoll" advise a --format snakemake
  has out '  "link": {mem_mb: 604, runtime: 1}'
  gives 0 "$plimsoll" advise a --format nextflow
  has out "withName: 'link' {"
  has out "memory = '576 MB'"
  gives 0 "$plimsoll" advise a --format kubernetes
  has out '    memory: 576Mi'
  # What is no number, no word of a language and no bracket is in a comment.
  for format in slurm snakemake kubernetes; do
    gives 0 "$plimsoll" advise a --format "$format"
    ! grep -vE '^ *#|^$|^---$|^ *"?[a-z-]+"?:( .*)?$' out || wrong "format $format"
  done
}

case_a_name_from_outside_breaks_no_format() {
  record a "class=a'}{*/"
  for format in slurm snakemake nextflow kubernetes; do
    gives 0 "$plimsoll" advise a --format "$format"
  done
  gives 0 "$plimsoll" advise a --format snakemake
  lacks out set-resources
  gives 0 "$plimsoll" advise a --format nextflow
  has out "withName: 'a\\\\\\'\\\\}\\\\{\\\\*\\\\/' {"
}

case_mistakes_are_told() {
  gives 125 "$plimsoll" advise --format pbs
  has err '--format: found "pbs", expected text, json, slurm, snakemake, nextflow or kubernetes'
  gives 125 "$plimsoll" advise --quantile 95
  has err '--quantile: found "95", expected a number between 0 and 1, such as 0.9'
  gives 125 "$plimsoll" advise last --history
  gives 125 "$plimsoll" advise nothing
}

run_cases "$@"
