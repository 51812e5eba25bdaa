#!/bin/sh
# Prints today's spend and what is left of the budget that is used most: for status lines of terminals and of Claude Code.
# Needs curl, awk and sha256sum (or shasum), and an API token (the role viewer is enough):
#   AI_SPEND_URL=https://spend.acme.dev AI_SPEND_TOKEN=sat_… status-line.sh
# Status lines are drawn often: the metrics are read once a minute, and shown with their age while they cannot be read.
set -u
umask 077
: "${AI_SPEND_URL:?names the dashboard, such as https://spend.acme.dev}" "${AI_SPEND_TOKEN:?is an API token}"
# Secrets come from standard input: arguments can be seen by every user of the machine.
name=$(printf '%s\n%s' "$AI_SPEND_URL" "$AI_SPEND_TOKEN" | { sha256sum || shasum -a 256; } 2>/dev/null | cut -d ' ' -f 1)
[ -n "$name" ] || { echo 'AI spend unknown: sha256sum or shasum is missing' && exit 0; }
cache="${XDG_CACHE_HOME:-$HOME/.cache}/ai-spend-status-$name"
now=$(date +%s)
today=$(date -u +%Y-%m-%d)

# The first line has the time of the last try and its result, and the time and day of the metrics below it.
tried_at=0 result='' read_at=0 day=-
[ -f "$cache" ] && read -r _ tried_at result read_at day <"$cache"
if [ $((now - tried_at)) -ge 60 ] || { [ "$result" = 200 ] && [ "$day" != "$today" ]; }; then
  mkdir -p "${cache%/*}"
  result=$(printf 'Authorization: Bearer %s' "$AI_SPEND_TOKEN" |
    curl -sS -m 5 -H @- -w '%{http_code}' -o "$cache.$$" "$AI_SPEND_URL/api/machine/metrics" 2>/dev/null) || result=000
  # A dashboard may show its start page for a path that it does not know.
  [ "$result" != 200 ] || grep -q '^# TYPE ai_spend_cost_usd ' "$cache.$$" || result=other
  case $result in
    200) read_at=$now day=$today ;;
    401 | 403) read_at=0 day=- && : >"$cache.$$" ;;
    *) sed 1d "$cache" >"$cache.$$" 2>/dev/null ;;
  esac
  { echo "# $now $result $read_at $day" && cat "$cache.$$"; } >"$cache.new.$$" && mv "$cache.new.$$" "$cache"
  rm -f "$cache.$$"
fi

seconds=$((now - read_at))
if [ $seconds -lt 7200 ]; then age="$((seconds / 60)) min"; elif [ $seconds -lt 172800 ]; then age="$((seconds / 3600)) h"; else age="$((seconds / 86400)) d"; fi
if [ "$day" != "$today" ]; then
  case $result in
    401 | 403) why="token refused (HTTP $result)" ;;
    000) why=unreachable ;;
    other) why='unreachable (no metrics)' ;;
    *) why="unreachable (HTTP $result)" ;;
  esac
  [ "$read_at" = 0 ] || why="$why, last read $age ago"
  echo "AI spend unknown: $why"
  exit 0
fi
[ "$result" = 200 ] && age=
awk -v age="$age" '
  function usd(amount,  sign) {
    sign = amount < 0 ? "-" : ""
    if (amount < 0) amount = -amount
    return sign "$" sprintf(amount > 0 && amount < 0.1 ? "%.4f" : "%.2f", amount)
  }
  function budget() { match($0, /\{.*\}/); return substr($0, RSTART, RLENGTH) }
  function name_of(labels,  name) {
    match(labels, /,budget="([^"\\]|\\.)*"/)
    name = substr(labels, RSTART + 9, RLENGTH - 10)
    gsub(/\\n/, " ", name)
    gsub(/\\"/, "\"", name)
    gsub(/\\\\/, "\\", name)
    return name
  }
  /^ai_spend_cost_usd\{period="today"/ { cost += $NF; known = 1 }
  /^ai_spend_unknown_cost_requests\{period="today"/ { unknown += $NF }
  /^ai_spend_budget_amount_usd\{/ { amount[budget()] = $NF }
  /^ai_spend_budget_used_usd\{/ { used[budget()] = $NF }
  END {
    line = "AI " (known || !unknown ? usd(cost) : "unknown cost") " today"
    if (known && unknown) line = line " + " unknown " of unknown cost"
    most = -1
    for (each in amount) if (amount[each] > 0 && used[each] / amount[each] > most) { most = used[each] / amount[each]; top = each }
    if (most >= 0) line = line ", " usd(amount[top] - used[top]) " left of " name_of(top)
    print line (age == "" ? "" : " (" age " ago)")
  }
' "$cache"
