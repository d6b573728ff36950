#!/bin/bash
# The command line on a kernel whose cgroups are all v2, in a machine where everything takes longer.
# vm: --kernel 6.1 --timeout 1400
# vm: --kernel 6.12 --timeout 1400
set -uo pipefail
cd "$(dirname "$0")/../cli" || exit 1
export PATIENCE=300 ROUNDS=6

(($#)) || set -- batch.sh run.sh run_groups.sh survival.sh
passed=0 failed=0
for script in "$@"; do
  output=$(env --default-signal=INT,QUIT "./$script" 2>&1)
  status=$?
  echo "--- $script: exit $status"
  echo "$output"
  if [[ $(tail -n 1 <<<"$output") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
done

echo "$passed passed, $failed failed"
((failed == 0))
