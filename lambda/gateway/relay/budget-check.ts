import {
  type AccessRule,
  accessToProvider,
  concernsKey,
  isAbovePrice,
  isOfModel,
  permitsModels,
} from '../../domain/limits/access.ts';
import {
  type Block,
  type Blocks,
  blocksOf,
  type ReservedBudget,
  remainingOf,
  reservedOf,
} from '../../domain/limits/block.ts';
import { startsNothing } from '../../domain/price/free-requests.ts';
import type { Admitted } from '../admission/admit.ts';
import type { ValueLookup } from '../admission/value-lookup.ts';
import { type GatewayErrorResponse, gatewayErrorResponse, gatewayErrorText } from '../protocol/gateway-error.ts';
import { checkValues, type ValuesCheck } from './check-values.ts';
import { logFault } from './fault-log.ts';
import type { RequestIdentity } from './request-identity.ts';
import type { NotEnough } from './reserve.ts';

/** The refusal of a model that an access rule does not let a key call. */
interface NotAllowed {
  readonly id: string;
  readonly kind: 'access';
  readonly rule: AccessRule;
  readonly provider: string;
  /** Undefined where the provider alone decided. */
  readonly models: readonly string[] | undefined;
  /** The most that the request may cost, where that is more than the rule allows. */
  readonly neededNanoUsd: number | null;
}

/** Why a request is not forwarded: the block that it is in, a budget that it does not fit, an access rule, or that none could be read. */
export type Refusal = Block | NotEnough | NotAllowed | 'blocks-unread';

/** The `blockedBy` of a refused request. */
export const refusalId = (refusal: Refusal): string | null => (refusal === 'blocks-unread' ? null : refusal.id);

/** Effect of an account's blocks on one request. */
export interface BudgetCheck {
  readonly refusal: Refusal | undefined;
  /** Blocks of one model that the request is in, if it asks for that model. */
  readonly ofModels: readonly Block[];
  /** Access rules that let the request pass or not, by its model. */
  readonly accessByModel: readonly AccessRule[];
  /** Access rules with a highest price of a request. */
  readonly accessByPrice: readonly AccessRule[];
  /** Budgets that the request reserves from; of those of one model, if it asks for that model. */
  readonly reserved: readonly ReservedBudget[];
  /** The least that its budgets have left, where the account wants to show it. */
  readonly remainingNanoUsd: number | null;
  /** Something that may stop the request could not be read, and it passes or not as the account wants. */
  readonly isUnread: boolean;
}

const NANO_USD = 1e9;

const notAllowed = (
  rule: AccessRule,
  provider: string,
  models?: readonly string[],
  neededNanoUsd: number | null = null,
): NotAllowed => ({ id: rule.id, kind: 'access', rule, provider, models, neededNanoUsd });

/** The refusal of a request whose models are known: by an access rule, else by a block of one of them. */
export const refusalByModels = (
  { accessByModel, ofModels }: Pick<BudgetCheck, 'accessByModel' | 'ofModels'>,
  provider: string,
  models: readonly string[],
): NotAllowed | Block | undefined => {
  const rule = accessByModel.find((each) => !permitsModels(each, provider, models));
  if (rule) return notAllowed(rule, provider, models);
  return ofModels.find(({ scope }) => isOfModel(scope.model, provider, models));
};

/** The refusal of a request that may cost more than an access rule allows. One whose price is not known passes. */
export const refusalByPrice = (
  { accessByPrice }: Pick<BudgetCheck, 'accessByPrice'>,
  provider: string,
  models: readonly string[],
  neededNanoUsd: number | null,
): Refusal | undefined => {
  if (neededNanoUsd === null) return undefined;
  const rule = accessByPrice.find((each) => isAbovePrice(each, neededNanoUsd));
  return rule && notAllowed(rule, provider, models, neededNanoUsd);
};

const unreadCheck = ({ owner }: Admitted): BudgetCheck => ({
  ...{ ofModels: [], accessByModel: [], accessByPrice: [], reserved: [], remainingNanoUsd: null },
  refusal: owner?.withoutBlocks === 'stop' ? 'blocks-unread' : undefined,
  isUnread: true,
});

const checkBlocks = (
  { owner, blocks }: Admitted & { readonly blocks: Blocks },
  identity: RequestIdentity,
  now: Date,
  models: readonly string[] | undefined,
  values: ValuesCheck,
): BudgetCheck => {
  const { provider } = identity;
  const rules = blocks.access.filter((rule) => owner && concernsKey(rule, owner));
  // A budget refuses what costs: what is paid for can be fetched. An access rule keeps that from its provider only.
  const isFree =
    blocks.blocks.length + blocks.reserved.length + blocks.each.length + rules.length > 0 && startsNothing(identity);
  const inForce = [...blocksOf(blocks, identity, now), ...values.blocks].filter(
    ({ kind }) => kind === 'pause' || !isFree,
  );
  const refusing = rules.find((rule) => accessToProvider(rule, provider) === 'refused');
  const byModel = {
    accessByModel: isFree ? [] : rules.filter((rule) => accessToProvider(rule, provider) === 'by-model'),
    ofModels: inForce.filter(({ scope }) => scope.model !== undefined),
  };
  const remaining = [remainingOf(blocks, identity, now) ?? [], values.remainingNanoUsd].flat();
  return {
    refusal:
      (refusing && notAllowed(refusing, provider)) ??
      inForce.find(({ scope }) => scope.model === undefined) ??
      (values.unread === 'stop' && !isFree ? 'blocks-unread' : undefined) ??
      (models && refusalByModels(byModel, provider, models)),
    ...(models ? { accessByModel: [], ofModels: [] } : byModel),
    accessByPrice: isFree ? [] : rules.filter(({ maxRequestUsd }) => maxRequestUsd !== null),
    reserved: isFree ? [] : [...reservedOf(blocks, identity), ...values.reserved],
    remainingNanoUsd: remaining.length === 0 ? null : Math.min(...remaining),
    isUnread: values.unread !== null,
  };
};

const hasBlocks = (admitted: Admitted): admitted is Admitted & { readonly blocks: Blocks } =>
  typeof admitted.blocks === 'object';

/**
 * Checks what may stop a request: blocks, access rules and the values of its limits of each. Undefined for an account in which nothing does.
 * Synchronous where all of it is cached. Never throws or rejects: a fault of ours is as if blocks could not be read.
 *
 * @param models of the request, where its address names them; undefined where its body may
 */
export const checkLimits = (
  admitted: Admitted,
  identity: RequestIdentity,
  models: readonly string[] | undefined,
  lookUpValue: ValueLookup,
): BudgetCheck | undefined | Promise<BudgetCheck> => {
  if (admitted.blocks === undefined) return undefined;
  if (!hasBlocks(admitted)) return unreadCheck(admitted);
  const now = new Date();
  const failed = (error: unknown): BudgetCheck => {
    logFault(identity.requestId, error);
    return unreadCheck(admitted);
  };
  try {
    const values = checkValues(admitted, identity, now, lookUpValue);
    if (!(values instanceof Promise)) return checkBlocks(admitted, identity, now, models, values);
    return values.then((read) => checkBlocks(admitted, identity, now, models, read)).catch(failed);
  } catch (error) {
    return failed(error);
  }
};

/** True where what the request may cost is asked for before it is forwarded. */
export const needsPrice = ({ accessByPrice, reserved }: BudgetCheck): boolean =>
  accessByPrice.length + reserved.length > 0;

/** True where it is not known from the request's address whether a limit of its model refuses it. */
export const needsModels = ({ ofModels, accessByModel }: BudgetCheck): boolean =>
  ofModels.length + accessByModel.length > 0;

/** True where the body must be read before the request is forwarded. */
export const needsBody = (budgets: BudgetCheck | undefined): budgets is BudgetCheck =>
  budgets !== undefined && (needsModels(budgets) || needsPrice(budgets));

/** The value of X-Service-Budget-Remaining: USD, down to a nano-dollar; below zero where more was spent than the budget has. */
export const remainingHeader = (nanoUsd: number): string => (nanoUsd / NANO_USD).toFixed(9);

/** When to try again if only the reservations of running requests leave no room. */
const RUNNING_SECONDS = 30;

/** True where what is spent leaves enough: the request fits as soon as others have ended. */
const fitsLater = (refusal: Block | NotEnough): boolean =>
  'neededNanoUsd' in refusal &&
  refusal.neededNanoUsd !== null &&
  refusal.spentNanoUsd !== null &&
  refusal.amountNanoUsd !== null &&
  refusal.spentNanoUsd + refusal.neededNanoUsd <= refusal.amountNanoUsd;

/** Says in words which models a rule lets a key call. */
const accessText = ({ rule: { name, allowed, denied, maxRequestUsd }, neededNanoUsd }: NotAllowed): string => {
  if (neededNanoUsd !== null)
    return `“${name}” allows $${maxRequestUsd} for one request, and this one may cost $${neededNanoUsd / NANO_USD}: send max_tokens to lower that`;
  const parts = [
    ...(allowed ? [`allows ${allowed.join(', ') || 'nothing'}`] : []),
    ...(denied.length > 0 ? [`denies ${denied.join(', ')}`] : []),
  ];
  return `“${name}” ${parts.join(', and ')}`;
};

const notAllowedResponse = (refusal: NotAllowed, requestId: string): GatewayErrorResponse => {
  const { rule, provider, models, neededNanoUsd } = refusal;
  const { id, name, allowed, denied, maxRequestUsd } = rule;
  const needed = neededNanoUsd !== null && { neededUsd: neededNanoUsd / NANO_USD };
  const response = gatewayErrorResponse('MODEL_NOT_ALLOWED', requestId, accessText(refusal), {
    access: { id, name, provider, ...(models && { models }), allowed, denied, maxRequestUsd, ...needed },
  });
  return { ...response, headers: [...response.headers, 'x-should-retry', 'false'] };
};

/** The reason in the Close frame of a WebSocket, which has little room. */
export const refusalInShort = (refusal: Refusal): string => {
  if (refusal === 'blocks-unread') return gatewayErrorText('BUDGET_UNKNOWN');
  if (refusal.kind === 'access') return `MODEL_NOT_ALLOWED: ${accessText(refusal)}`;
  return `${refusal.kind === 'budget' ? 'BUDGET_EXCEEDED' : 'PAUSED'}: “${refusal.name}”`;
};

/** The response to a request that is not forwarded. SDKs must not send it again, unless only the gateway's knowledge is missing. */
export const refusalResponse = (refusal: Refusal, requestId: string, now: Date): GatewayErrorResponse => {
  if (refusal === 'blocks-unread') {
    const response = gatewayErrorResponse('BUDGET_UNKNOWN', requestId);
    return { ...response, headers: [...response.headers, 'Retry-After', '5'] };
  }
  if (refusal.kind === 'access') return notAllowedResponse(refusal, requestId);
  const { id, kind, name, until, amountNanoUsd, spentNanoUsd, of } = refusal;
  const ofValue = of ? ` for ${of.each.replace(/^dim:/, '')} ${of.value ?? '(none)'}` : '';
  const askUrl = of && (of.value === null ? of.askUrl : `${of.askUrl}&value=${encodeURIComponent(of.value)}`);
  const usd = (member: string, nanoUsd: number | null) => nanoUsd !== null && { [member]: nanoUsd / NANO_USD };
  const response = gatewayErrorResponse(
    kind === 'budget' ? 'BUDGET_EXCEEDED' : 'PAUSED',
    requestId,
    `“${name}”${ofValue}, until ${until ?? 'it is ended'}${askUrl ? `; ask for more: ${askUrl}` : ''}`,
    {
      [kind]: {
        id,
        name,
        ...usd('amountUsd', amountNanoUsd),
        ...usd('spentUsd', spentNanoUsd),
        ...('neededNanoUsd' in refusal && {
          ...usd('reservedUsd', refusal.reservedNanoUsd),
          ...usd('neededUsd', refusal.neededNanoUsd),
        }),
        until,
        ...(of && { ...of, askUrl }),
      },
    },
  );
  const waitMs = until === null ? null : Math.max(1_000, Date.parse(until) - now.getTime());
  const seconds = fitsLater(refusal) ? RUNNING_SECONDS : waitMs && Math.ceil(waitMs / 1_000);
  return {
    ...response,
    headers: [
      ...response.headers,
      'x-should-retry',
      'false',
      ...(seconds === null ? [] : ['Retry-After', String(seconds)]),
    ],
  };
};
