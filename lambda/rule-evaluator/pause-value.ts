import { createHash } from 'node:crypto';
import { auditEntry } from '../data/accounts/audit-log.ts';
import type { ServiceKey } from '../data/accounts/service-keys.ts';
import type { BlockStore } from '../data/alerts/blocks.ts';
import type { Rule } from '../data/alerts/rules.ts';
import { activeKeyIds } from '../domain/accounts/project.ts';
import { scopeOf } from '../domain/alert-rules/budget-blocks.ts';
import type { BurnRateCondition } from '../domain/alert-rules/rule.ts';
import type { Block, BlockScope } from '../domain/budgets/block.ts';
import { isInForce, MAX_PAUSES, withPause } from '../domain/budgets/pauses.ts';
import type { Period } from '../domain/calendar/periods.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';

const scopeOfValue = (
  { each, filter }: BurnRateCondition['config'],
  value: string,
  keys: readonly ServiceKey[],
): BlockScope => {
  const scope = scopeOf(filter, keys);
  if (each === 'tag') return { ...scope, tag: value };
  if (each === 'session') return { ...scope, sessionId: value };
  return { ...scope, keyIds: each === 'key' ? [value] : activeKeyIds(keys, value) };
};

/** Judging it again makes the same pause, not another. */
const pauseIdOf = ({ ruleId, conditionRevision }: Rule, period: Period, value: string): string =>
  createHash('sha256').update([ruleId, conditionRevision, period.start, value].join()).digest('hex').slice(0, 32);

/**
 * Pauses one value of a rule, if the rule wants that and the period is not over.
 *
 * @returns what the alert says about it
 */
export const pauseValue =
  (blocks: Pick<BlockStore, 'change'>) =>
  async (
    rule: Rule<BurnRateCondition>,
    { period, value, keys, now }: { period: Period; value: string; keys: readonly ServiceKey[]; now: Date },
  ): Promise<string> => {
    const { config } = rule.condition;
    if (config.pause === null || now.toISOString() >= period.end) return '';
    const { minutes } = config.pause;
    const until = minutes === null ? null : new Date(now.getTime() + minutes * MINUTE_MS).toISOString();
    const pause: Block = {
      id: pauseIdOf(rule, period, value),
      kind: 'pause',
      name: rule.name,
      scope: scopeOfValue(config, value, keys),
      startedAt: now.toISOString(),
      until,
      amountNanoUsd: null,
      spentNanoUsd: null,
      ruleId: rule.ruleId,
      ...(config.each === 'project' && { projectId: value }),
    };
    let ended: Block | undefined;
    const details = { name: rule.name, [config.each]: value, until: String(until) };
    await blocks.change(
      rule.accountId,
      (current) => {
        ended = undefined;
        if (current.blocks.some((block) => block.id === pause.id && isInForce(block, now))) return current;
        const changed = withPause(current, pause, now);
        ended = changed.ended;
        return changed.blocks;
      },
      auditEntry(rule.accountId, {}, { action: 'pause.started', subject: pause.id, details }, now),
    );
    if (ended?.id === pause.id) return ` It is not paused: the account has ${MAX_PAUSES} pauses, which last longer.`;
    const forIt = ended ? ` For that the pause “${ended.name}” ended early: an account has ${MAX_PAUSES} at most.` : '';
    return ` It is paused until ${until ?? 'somebody ends that'}.${forIt}`;
  };
