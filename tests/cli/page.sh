#!/bin/bash
# plimsoll report --html: the pages of made-up runs, in a real browser where this host has Chromium and
# npm, with a registry to install playwright-core from; its last line counts.
# long: a browser opens a page for each test
set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit 1
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT
source tests/cli/browser.bash
passed=0 failed=0 skipped=0

good() { echo "ok $1" && ((++passed)); }
bad() { echo "FAIL $1" && ((++failed)); }

# page_of RUN BYTES: writes its page, of BYTES at most.
page_of() {
  local page=$place/pages/$1.html size
  "$PLIMSOLL" report "$place/runs/$1" --html "$page" || { bad "$1: no page"; return; }
  size=$(stat -c %s "$page")
  if ((size <= $2)); then good "$1: $size bytes"; else bad "$1: $size bytes, $2 at most"; fi
}

# refused MESSAGE ARGUMENT...: report fails, and says so.
refused() {
  local said
  if said=$("$PLIMSOLL" report "$place/runs/one" "${@:2}" 2>&1) || [[ $said != *"$1"* ]]; then
    bad "${*:2}: $said"
  else
    good "${*:2} is refused"
  fi
}

# Whether standard input is a document of SVG with a shape for each of the nine groups of classes.
is_svg() {
  python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.stdin).getroot()
drawn = [one for one in root if "fill" in one.attrib]
sys.exit(root.tag != "{http://www.w3.org/2000/svg}svg" or len(drawn) < 9)'
}

in_browser() {
  local chromium playwright lacks='' line
  if ! find_browser; then
    echo "SKIP the pages in a browser: $lacks"
    ((++skipped))
    return
  fi
  while read -r line; do
    echo "$line"
    case $line in
      ok*) ((++passed)) ;;
      FAIL*) ((++failed)) ;;
    esac
  done < <(node tests/page/browser.mjs "$playwright" "$chromium" "$place/pages" 2>&1 || echo "FAIL the browser ended with $?")
}

mkdir "$place/pages"
tests/page/runs.py "$place/runs" || exit 1
page_of empty 150000
page_of one 150000
page_of mixed 200000
page_of thousand $((300 * 1024))
page_of many $((2 * 1024 * 1024))
if "$PLIMSOLL" report "$place/runs/before" "$place/runs/after" --html "$place/pages/pair.html"; then
  good 'two runs are one page'
else
  bad 'two runs: no page'
fi
if "$PLIMSOLL" report "$place/runs/before" --whatif --html "$place/pages/asked.html"; then
  good '--whatif replays a run that is not cheap'
else
  bad '--whatif: no page'
fi
for picture in timeline memory; do
  if "$PLIMSOLL" report "$place/runs/mixed" --svg "$picture" | is_svg; then
    good "--svg $picture is a picture"
  else
    bad "--svg $picture is none"
  fi
done
if "$PLIMSOLL" report "$place/runs/one" --html - | cmp -s - "$place/pages/one.html"; then
  good "--html - writes the same to standard output"
else
  bad "--html - writes something else"
fi
refused 'No such file or directory' --html "$place/missing/run.html"
refused '--open' --html - --open
DISPLAY='' WAYLAND_DISPLAY='' refused 'there is no desktop' --html "$place/run.html" --open
refused 'excludes' --html "$place/run.html" --json
refused 'there is nothing to simulate' "$place/runs/empty" --html "$place/run.html" --whatif
refused '--html' --whatif
refused 'expected timeline or memory' --svg both
refused 'excludes' --svg memory --html "$place/run.html"
refused "$place/runs/none" "$place/runs/none" --html "$place/run.html"
in_browser
echo "$passed passed, $failed failed$( ((skipped)) && echo ", $skipped skipped")"
((failed == 0))
