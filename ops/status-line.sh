#!/bin/sh
# Prints today's spend and what is left of the budget that is used most: for status lines of terminals and of Claude Code.
# Needs curl and awk, and an API token (the role viewer is enough):
#   AI_SPEND_URL=https://spend.acme.dev AI_SPEND_TOKEN=sat_… status-line.sh
# Status lines are drawn often: what was read is kept for a minute, and shown for as long as nothing newer can be read.
set -u
umask 077
: "${AI_SPEND_URL:?names the dashboard, such as https://spend.acme.dev}" "${AI_SPEND_TOKEN:?is an API token}"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/ai-spend-status"
if [ -z "$(find "$cache" -mmin -1 2>/dev/null)" ]; then
  mkdir -p "${cache%/*}"
  # The header comes from standard input: arguments can be seen by every user of the machine.
  printf 'Authorization: Bearer %s' "$AI_SPEND_TOKEN" |
    curl -fsS -m 5 -H @- "$AI_SPEND_URL/api/machine/metrics" -o "$cache.$$" 2>/dev/null && mv "$cache.$$" "$cache"
  rm -f "$cache.$$"
fi
[ -f "$cache" ] || { echo 'AI spend: unreachable'; exit 0; }
awk '
  function usd(amount,  sign) {
    sign = amount < 0 ? "-" : ""
    if (amount < 0) amount = -amount
    return sign "$" sprintf(amount > 0 && amount < 0.1 ? "%.4f" : "%.2f", amount)
  }
  function budget() { match($0, /,budget="([^"\\]|\\.)*"/); return substr($0, RSTART + 9, RLENGTH - 10) }
  /^ai_spend_cost_usd\{period="today"/ { cost += $NF; known = 1 }
  /^ai_spend_unknown_cost_requests\{period="today"/ { unknown += $NF }
  /^ai_spend_budget_amount_usd\{/ { amount[budget()] = $NF }
  /^ai_spend_budget_used_usd\{/ { used[budget()] = $NF }
  END {
    line = "AI " (known || !unknown ? usd(cost) : "unknown cost") " today"
    if (known && unknown) line = line " + " unknown " of unknown cost"
    most = -1
    for (name in amount) if (amount[name] > 0 && used[name] / amount[name] > most) { most = used[name] / amount[name]; top = name }
    if (most >= 0) line = line ", " usd(amount[top] - used[top]) " left of " top
    print line
  }
' "$cache"
