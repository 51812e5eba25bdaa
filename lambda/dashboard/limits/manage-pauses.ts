import { auditOf } from '../../data/accounts/audit-log.ts';
import { hasKey, scopeOf } from '../../domain/accounts/scope.ts';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { ForbiddenError, invalid, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { type Block, type Blocks, isInForce } from '../../domain/limits/block.ts';
import { KNOWN_MS, KNOWN_ON_KEYS_MS } from '../../domain/limits/limit-blocks.ts';
import { MAX_PAUSES, pausesOf, withoutPause, withPause } from '../../domain/limits/pauses.ts';
import type { Caller, Implementation, Implementations, Input } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import { writePolicy } from './block-policy.ts';
import type * as operations from './budget-operations.ts';

const view = ({ id, name, scope, projectId, startedAt, until, ruleId }: Block) => {
  const { provider, model, tag, client, keyIds, sessionId } = scope;
  return {
    id,
    name,
    scope: {
      ...{ provider, model, tag, client },
      ...(projectId === undefined ? keyIds && { key: keyIds[0] } : { project: projectId }),
      ...(sessionId !== undefined && { session: sessionId }),
    },
    // Every pause has it.
    startedAt: startedAt as string,
    until,
    ruleId: ruleId ?? null,
  };
};

/** The keys of a pause's scope. @throws ValidationError where there are none, or the caller does not see them */
const keyIdsOf = async (
  { keys }: Settings,
  caller: Caller,
  { key, project }: Input<typeof operations.createPause>['body']['scope'],
): Promise<string[] | undefined> => {
  if (key === undefined && project === undefined) return undefined;
  const { sees } = scopeOf(caller);
  const found = (await keys.listActive(caller.accountId)).filter(
    ({ keyId, projectId }) => keyId === key || projectId === project,
  );
  if (found.length > 0 && found.every(({ keyId }) => hasKey(sees, keyId))) return found.map(({ keyId }) => keyId);
  throw key === undefined
    ? invalid('scope.project', `${project} is no project of the account with an active key`)
    : invalid('scope.key', `${key} is not an active key of the account`);
};

/** True if the caller sees every key that a pause stops. One without keys is of the whole account. */
const isSeen = (caller: Caller, { scope: { keyIds } }: Block): boolean => {
  const { sees } = scopeOf(caller);
  return sees.keyIds === undefined || (keyIds?.every((keyId) => hasKey(sees, keyId)) ?? false);
};

export const listPauses =
  ({ blocks, now }: Pick<Settings, 'blocks' | 'now'>): Implementation<typeof operations.listPauses> =>
  async ({ caller }) => ({
    items: pausesOf(await blocks.read(caller.accountId), now())
      .filter((pause) => isSeen(caller, pause))
      .map(view),
  });

/** @throws NotFoundError */
const findPause = ({ blocks }: Blocks, id: string, caller: Caller, at: Date): Block => {
  const pause = blocks.find((block) => block.id === id && block.kind === 'pause' && isInForce(block, at));
  if (pause === undefined || !isSeen(caller, pause)) throw new NotFoundError('There is no such pause.');
  return pause;
};

/** @throws ForbiddenError where somebody else stopped the caller alone, who may not give single values of budgets more either */
const requireOthers = async (
  { keys }: Settings,
  caller: Caller,
  { scope: { keyIds }, startedBy = caller.userId }: Block,
): Promise<void> => {
  const isForCaller = startedBy === caller.userId || scopeOf(caller).permits('raises:decide');
  if (isForCaller || keyIds === undefined) return;
  const stopped = (await keys.list(caller.accountId)).filter(({ keyId }) => keyIds.includes(keyId));
  if (stopped.every(({ ownerUserId }) => ownerUserId === caller.userId))
    throw new ForbiddenError('This pause stops only you. Ask an owner or admin to end it.');
};

export const managePauses = (
  settings: Settings,
): Implementations<typeof operations, 'listPauses' | 'createPause' | 'endPause'> => ({
  listPauses: listPauses(settings),

  createPause: async ({ caller, clientAddress, body: { name, scope, minutes } }) => {
    const { accountId } = caller;
    const { session, key: _, project: projectId, ...others } = scope;
    const keyIds = await keyIdsOf(settings, caller, scope);
    const at = settings.now();
    const after = (ms: number) => new Date(at.getTime() + ms).toISOString();
    const pause: Block = {
      id: settings.newId(),
      kind: 'pause',
      name,
      scope: { ...others, ...(keyIds && { keyIds }), ...(session !== undefined && { sessionId: session }) },
      startedAt: at.toISOString(),
      startedBy: caller.userId,
      until: minutes === null ? null : after(minutes * MINUTE_MS),
      amountNanoUsd: null,
      spentNanoUsd: null,
      ...(projectId !== undefined && { projectId }),
    };
    if (!isSeen(caller, pause))
      throw new ForbiddenError('You see only a part of this account. Pause a key or project that you see.');
    const details = { name, scope: JSON.stringify(scope), until: String(pause.until) };
    const isKnown = async () => (await settings.accounts.find(accountId))?.withoutBlocks !== undefined;
    const wasKnown = await isKnown();
    await settings.blockCopies.expect(accountId);
    await settings.blocks.change(
      accountId,
      (blocks) => {
        const { blocks: changed, ended } = withPause(blocks, pause, at);
        if (ended) throw new LimitReachedError(`An account may have ${MAX_PAUSES} pauses. End one first.`);
        return changed;
      },
      () => [auditOf({ caller, clientAddress }, { action: 'pause.started', subject: pause.id, details }, at)],
    );
    const enforcedFrom = after(wasKnown && (await isKnown()) ? KNOWN_MS : KNOWN_ON_KEYS_MS);
    await writePolicy(settings, accountId);
    return { ...view(pause), enforcedFrom };
  },

  endPause: async ({ caller, clientAddress, params: { id } }) => {
    const at = settings.now();
    const { blocks } = settings;
    await requireOthers(settings, caller, findPause(await blocks.read(caller.accountId), id, caller, at));
    await blocks.change(
      caller.accountId,
      (stored) => {
        findPause(stored, id, caller, at);
        return withoutPause(stored, id, at);
      },
      () => [auditOf({ caller, clientAddress }, { action: 'pause.ended', subject: id }, at)],
    );
    await writePolicy(settings, caller.accountId);
  },
});
