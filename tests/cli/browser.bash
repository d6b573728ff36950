# A real browser for tests, where this host has Chromium and npm, with a registry to install
# playwright-core from: sourced.
# shellcheck shell=bash

# find_playwright: what drives the browser, in `playwright`; else the reason why not, in `lacks`. Installed
# once for this build, in the version of page/package.json.
find_playwright() {
  local version place
  version=$(sed -n 's/.*"playwright-core": "\(.*\)".*/\1/p' page/package.json)
  place=$(dirname "$PLIMSOLL")/tests/playwright-core-$version
  playwright=$place/node_modules/playwright-core/index.mjs
  [[ ! -e $playwright ]] || return 0
  type -P npm >/dev/null || { lacks='there is no npm' && return 1; }
  mkdir -p "$place"
  timeout 120 npm install --prefix "$place" --no-save --ignore-scripts --no-audit --no-fund --fetch-retries=0 \
    "playwright-core@$version" >"$place.log" 2>&1 && [[ -e $playwright ]] && return
  lacks="npm could not install playwright-core $version: $(grep -m 1 -E '^npm (err|ERR)' "$place.log" || tail -n 1 "$place.log")"
  return 1
}

# find_browser: the browser in `chromium`, and what drives it in `playwright`; else the reason why not, in
# `lacks`. To be called in the root of the tree.
find_browser() {
  chromium=$(type -P chromium chromium-browser google-chrome | head -n 1)
  if [[ ! $chromium ]]; then
    lacks='there is no Chromium'
  elif ! type -P node >/dev/null; then
    lacks='there is no Node.js'
  else
    find_playwright && return
  fi
  return 1
}
