#!/bin/bash
# ./dev bench simulate, with few jobs: that its families can be simulated and its tables are whole.
# Its figures are for people. Its last line counts.
# program: released
set -uo pipefail
. "$(dirname "$0")/cases.bash"

bench=$(realpath "$(dirname "$0")/../../bench")
curves=$(realpath "$(dirname "$0")/../data/curves/mixed.jsonl")
export PLIMSOLL=$plimsoll
# No files beside the scripts.
export PYTHONDONTWRITEBYTECODE=1

# cell POLICY COLUMN: of the first table in `out`; columns from 1, that of the policies.
cell() {
  awk -F ' *[|] *' -v policy="$1" -v column="$2" \
    'index($2, policy) == 1 { print $(column + 1); exit }' out
}

case_every_family_under_every_policy() {
  local family names policy
  gives 0 "$python" "$bench/simulate.py" --quick --seeds 1
  names=$("$python" "$bench/curve_families.py" | awk '{ print $1 }')
  same 7 "$(wc -w <<<"$names")" families
  for family in $names; do
    # Its own table, and its row of the last one.
    same 2 "$(grep -c "^|* *$family, [0-9]* cores, [0-9]* GiB" out)" "$family"
  done
  for policy in 'plimsoll, nothing known' 'plimsoll, having learnt' 'best `fixed:N` (' \
    'best `fixed:N` without a kill' '`memfree:25%`' '`fit:first`' '`fit:best`' '`fit:dot`' \
    '`clairvoyant:class`' '`clairvoyant`'; do
    same 7 "$(grep -c "^| $policy" out)" "$policy"
  done
  lacks out unfinished
  # Where peaks are reserved nothing is killed, and no work lost.
  same 21 "$(grep -cE '^\| `fit:[a-z]*` +\| +[0-9.]+ \| +0 \| +0 % \|' out)"
}

case_the_same_seed_gives_the_same_table() {
  gives 0 "$python" "$bench/simulate.py" --quick --seeds 2 --family waves
  mv out first
  gives 0 "$python" "$bench/simulate.py" --quick --seeds 2 --family waves
  cmp first out || wrong 'the tables differ'
  gives 0 "$python" "$bench/simulate.py" --quick --seeds 3 --family waves
  ! cmp -s first out || wrong 'another seed gave the same table'
}

case_a_file_of_curves() {
  xz -c "$curves" >own.jsonl.xz
  gives 0 "$python" "$bench/simulate.py" --seeds 1 --machine 8,8G own.jsonl.xz
  has out 'own, 8 cores, 8 GiB'
  has out 'plimsoll, having learnt'
  gives 0 "$python" "$bench/simulate.py" --seeds 1 --machine 8,8G --whole own.jsonl.xz
  lacks out 'plimsoll, having learnt'
  # The same as plimsoll itself says of it.
  gives 0 "$plimsoll" simulate own.jsonl.xz --cores 8 --line 8G --order shuffle --seed 1 \
    --policy fit:dot --json
  mv out alone
  gives 0 "$python" "$bench/simulate.py" --seeds 1 --machine 8,8G --whole own.jsonl.xz
  same "$("$python" -c '
import json
one = json.load(open("alone"))
print("%.2f" % (one["makespan_s"] / one["lower_bound_s"]))')" "$(cell '`fit:dot`' 2)"
}

case_what_does_not_finish_is_said() {
  printf '{"class":"a","name":"%s","t":[0,10],"mem_mb":[%s,%s],"cpu_pct":[100,0]}\n' \
    small 100 100 large 100 1500 >large.jsonl
  gives 0 "$python" "$bench/simulate.py" --seeds 1 --machine 1,1G --whole large.jsonl
  same unfinished "$(cell '`clairvoyant`' 2)"
  same none "$(cell 'best `fixed:N` without a kill' 2)"
}

case_the_page_is_written_between_its_marks() {
  printf '%s\n' before '<!-- bench simulate: mixed -->' old '<!-- end -->' after >page.md
  gives 0 "$python" "$bench/simulate.py" --seeds 1 --machine 8,8G --into page.md "$curves"
  same before "$(head -n 1 page.md)"
  same after "$(tail -n 1 page.md)"
  lacks page.md old
  has page.md '| jobs '
  has page.md '| policy '
  printf 'nothing\n' >page.md
  gives 1 "$python" "$bench/simulate.py" --seeds 1 --machine 8,8G --into page.md "$curves"
  has err 'page.md has no lines <!-- bench simulate: mixed -->'
  same nothing "$(cat page.md)"
}

# Another value of a constant is built from a copy of all of this, which takes minutes: not here.
case_other_programs_stand_beside_each_other() {
  cp "$plimsoll" other
  gives 0 "$python" "$bench/sweep.py" --quick --seeds 1 --family waves --family short --program ./other
  same 8 "$(grep -cE '^[|] (waves|short), .*, (nothing known|having learnt) +[|]' out)" 'rows of two tables'
  same 4 "$(grep -cE '[|] +[0-9.]+ [|] +[+]0[.]0 % [|]$' out)" 'makespans'
  has out '- `./other`: at best +0.0 % (waves, 32 cores, 64 GiB, nothing known), at worst +0.0 %'
  gives 2 "$python" "$bench/sweep.py" kCushion
  has err 'expected a CONSTANT and VALUEs, or --program'
  gives 1 "$python" "$bench/sweep.py" kNowhere 1
  has err 'sweep: kNowhere is defined in no file, expected one file below src/policy'
  gives 1 "$python" "$bench/sweep.py" --quick --seeds 1 --family waves --program ./nowhere
  has err 'sweep: ./nowhere: No such file'
}

case_mistakes() {
  gives 1 "$python" "$bench/simulate.py" nowhere.jsonl
  has err 'nowhere.jsonl: No such file'
  gives 2 "$python" "$bench/simulate.py" --machine 8 "$curves"
  has err 'found "8", expected CORES,LINE'
  gives 2 "$python" "$bench/simulate.py" --seeds 0 "$curves"
  has err 'found "0", expected numbers'
  echo '{"class":"a"}' >bad.jsonl
  gives 1 "$python" "$bench/simulate.py" --seeds 1 --machine 8,8G --whole bad.jsonl
  has err 'found no "name"'
  gives 1 "$python" "$bench/simulate.py" --seeds 1 --machine 8,8G --policy best --whole "$curves"
  has err 'found "best", expected plimsoll, fixed:N'
}

run_cases "${1:-}"
