#!/bin/bash
# The host tests on a kernel whose cgroups are all v2. Runs inside the machine.
# vm: --kernel 6.12 --timeout 800
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

passed=0 failed=0 skipped=0

# summed WORD: the number in GoogleTest's last lines, `[  WORD  ] 3 tests`.
summed() { sed -nE "s/^\[ +$1 +\] ([0-9]+) tests?[.,].*/\1/p" <<<"$output" | tail -n 1; }

for program in build/tests/*_host_test; do
  status=0
  output=$("$program" 2>&1 </dev/null) || status=$?
  echo "--- $program: exit $status"
  good=$(summed PASSED) bad=$(summed FAILED) not=$(summed SKIPPED)
  ((status == 0)) || { bad=${bad:-1} && echo "$output"; }
  passed=$((passed + ${good:-0})) failed=$((failed + ${bad:-0})) skipped=$((skipped + ${not:-0}))
done

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
