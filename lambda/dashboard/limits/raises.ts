import { auditOf } from '../../data/accounts/audit-log.ts';
import type { Recipient } from '../../data/accounts/users.ts';
import { hasKey, scopeOf } from '../../domain/accounts/scope.ts';
import { raiseDecidedMail, raiseMail, raiseMessage } from '../../domain/alerts/raise-message.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { ForbiddenError, invalid, NotFoundError } from '../../domain/errors.ts';
import { limitPeriodAt } from '../../domain/limits/each.ts';
import { RAISE_DAYS, type Raise } from '../../domain/limits/raise.ts';
import type { Mail } from '../../domain/mail/mail.ts';
import { usdToNanoUsd } from '../../domain/money.ts';
import { usdOf } from '../../domain/spend/spend-report.ts';
import type { Caller, Implementations } from '../../http/operation.ts';
import { mailMembers, postMessage, resultOf } from '../../integrations/channels.ts';
import type { Settings } from '../open-settings.ts';
import { findValue, isSeen, type MaySee, planOverride, storedValue } from './limit-values.ts';
import type * as operations from './raise-operations.ts';

type Found = Awaited<ReturnType<typeof findValue>>;

/** @throws ValidationError where an amount in USD is not more than what holds for a value */
const requireMore = ({ state: { limitNanoUsd } }: Found, amount: number): number => {
  const message =
    limitNanoUsd === null
      ? 'is not needed: there is no limit'
      : `must be more than $${usdOf(limitNanoUsd)}, the limit now`;
  if (limitNanoUsd === null || usdToNanoUsd(amount) <= limitNanoUsd) throw invalid('amount', message);
  return limitNanoUsd;
};

/** The raise is stored: a message that cannot be sent changes nothing. @returns the channel where it was sent */
const sentBy = async ({ logger }: Settings, channel: string, sending: Promise<void>): Promise<string[]> => {
  const { isDelivered, error } = await resultOf(channel, sending);
  if (!isDelivered) logger.warn('raise not sent', { channel, error });
  return isDelivered ? [channel] : [];
};

const mailTo = async (
  { users, sendMail, now }: Settings,
  accountId: string,
  isFor: (member: Recipient) => boolean,
  mail: Mail,
): Promise<void> => {
  const recipients = (await users.recipients(accountId)).filter(isFor);
  await mailMembers(sendMail, { accountId, recipients, now: now() }, mail);
};

/**
 * Who does not see a value asks for it where it is theirs, too: a project in which they have a key, or a session that only keys which they
 * see have sent. Of a metadata name nothing says cheaply and exactly whose keys sent a value.
 */
const mayAsk =
  ({ sessions, now }: Settings): MaySee =>
  async (caller, found, value) => {
    if (isSeen(caller, found, value)) return true;
    const { each, period } = found.limit;
    const { sees } = scopeOf(caller);
    if (each === 'project')
      return found.keys.some(
        ({ projectId, status, keyId }) => projectId === value && status === 'active' && hasKey(sees, keyId),
      );
    const current = limitPeriodAt(period, now());
    if (each !== 'session' || value == null || current === null) return false;
    const days = { from: dayOf(current.start), to: dayOf(now().toISOString()) };
    const sent = (await sessions.find(caller.accountId, value, days)).filter(({ counters }) => counters.requests);
    return sent.length > 0 && sent.every(({ keyId }) => hasKey(sees, keyId));
  };

/** A response of Lambda has 6 MB at most, and a raise may have 4 KB. */
const MAX_LISTED = 1_500;

/** @throws ForbiddenError where a raise is the caller's own */
const requireOthers = ({ keys }: Found, { userId }: Caller, { askedBy, each, value }: Raise): void => {
  const owner = each === 'key' ? keys.find(({ keyId }) => keyId === value)?.ownerUserId : each === 'member' && value;
  if (askedBy.userId === userId || owner === userId)
    throw new ForbiddenError('Nobody decides a raise of their own. Ask another owner or admin.');
};

export const manageRaises = (settings: Settings): Implementations<typeof operations> => ({
  askForRaise: async ({ caller, clientAddress, params: { id, value }, body: { amount, reason } }) => {
    const { raises, newId, postWebhook, dashboardUrl, now } = settings;
    const { accountId, userId, name } = caller;
    const found = await findValue(settings, caller, id, storedValue(value), mayAsk(settings));
    const { limit, state, rule } = found;
    const limitNanoUsd = requireMore(found, amount);
    const at = now();
    const raise: Raise = {
      id: newId(),
      budgetId: id,
      budgetName: limit.name,
      each: limit.each,
      ...{ value, label: state.label, amount, reason, limitNanoUsd, usedNanoUsd: state.usedNanoUsd },
      askedBy: { userId, name },
      askedAt: at.toISOString(),
      validUntil: new Date(at.getTime() + RAISE_DAYS * DAY_MS).toISOString(),
      ...{ status: 'pending', decidedBy: null, decidedAt: null, granted: null },
    };
    const details = { name: limit.name, each: limit.each, value, amount: `$${amount}`, reason };
    const fact = { action: 'raise.asked', subject: raise.id, details } as const;
    await raises.ask(accountId, raise, auditOf({ caller, clientAddress }, fact, at));
    const isFor = (member: Recipient) => member.userId !== userId && scopeOf(member).permits('raises:decide');
    const message = raiseMessage(raise, dashboardUrl);
    const posted = rule.channels.filter((channel) => channel !== 'email');
    const sent = await Promise.all([
      sentBy(settings, 'email', mailTo(settings, accountId, isFor, raiseMail(raise, dashboardUrl))),
      ...posted.map((channel) => sentBy(settings, channel, postMessage(postWebhook, rule, channel, message, at))),
    ]);
    return { ...raise, sentBy: sent.flat() };
  },

  listRaises: async ({ caller }) => {
    const { accountId, userId } = caller;
    const known = new Set((await settings.rules.list(accountId)).map(({ ruleId }) => ruleId));
    const seesAll = scopeOf(caller).sees.keyIds === undefined;
    const isSeen = ({ budgetId, askedBy }: Raise) => known.has(budgetId) && (seesAll || askedBy.userId === userId);
    return { items: (await settings.raises.list(accountId, settings.now())).filter(isSeen).slice(0, MAX_LISTED) };
  },

  decideRaise: async ({ caller, clientAddress, params: { id }, body }) => {
    const { raises, dashboardUrl, now } = settings;
    const { accountId, userId, name } = caller;
    const at = now();
    const raise = (await raises.list(accountId, at)).find((each) => each.id === id);
    if (!raise) throw new NotFoundError('There is no such raise.');
    const value = storedValue(raise.value);
    const found = await findValue(settings, caller, raise.budgetId, value);
    requireOthers(found, caller, raise);
    const { isApproved, amount = raise.amount, until } = body;
    if (isApproved && raise.status === 'pending') requireMore(found, amount);
    const of = { id: raise.budgetId, value };
    const override = isApproved
      ? await planOverride(settings, { caller, clientAddress }, of, { amount, until, isRaise: true })
      : undefined;
    const decided: Raise = {
      ...raise,
      status: isApproved ? 'approved' : 'denied',
      decidedBy: { userId, name },
      decidedAt: at.toISOString(),
      granted: override ? { amount, until: override.until } : null,
    };
    const details = { name: raise.budgetName, value: raise.value, askedBy: raise.askedBy.name, amount: `$${amount}` };
    const fact = { action: isApproved ? 'raise.approved' : 'raise.denied', subject: id, details } as const;
    const audits = [auditOf({ caller, clientAddress }, fact, at), ...(override ? [override.audit] : [])];
    await raises.decide(accountId, decided, found.rule.revision, override?.action, audits);
    const isAsker = (member: Recipient) => member.userId === raise.askedBy.userId;
    const mail = raiseDecidedMail(decided, `${dashboardUrl}/access`);
    await sentBy(settings, 'email', mailTo(settings, accountId, isAsker, mail));
    return decided;
  },
});
