import type { openBlockCopies } from '../../data/accounts/block-copies.ts';
import type { BlockStore } from '../../data/alerts/blocks.ts';
import type { Rule, Rules } from '../../data/alerts/rules.ts';
import type { BlockPolicy } from '../../domain/limits/block.ts';
import { concernsGateway } from '../../domain/limits/limit-blocks.ts';
import { pausesOf } from '../../domain/limits/pauses.ts';

export interface PolicyDependencies {
  readonly rules: Pick<Rules, 'list'>;
  readonly blocks: Pick<BlockStore, 'read'>;
  readonly blockCopies: Pick<ReturnType<typeof openBlockCopies>, 'write'>;
  readonly now: () => Date;
}

/** True where the gateway has to know of a rule, and the recorder has it judged at once. */
export const mayBlock = ({ isActive, condition }: Pick<Rule, 'isActive' | 'condition'>): boolean =>
  isActive && (condition.type === 'burn_rate' || (condition.type === 'budget' && concernsGateway(condition.config)));

/** The policy while the blocks cannot be read: one budget that wants requests to stop is enough. */
const policyOf = (rules: readonly Rule[], hasPause: boolean): BlockPolicy | null => {
  const blocking = rules.filter(mayBlock);
  const wantsStop = ({ condition }: Rule): boolean =>
    condition.type === 'budget' && condition.config.block?.onUnavailable === 'stop';
  if (blocking.some(wantsStop)) return 'stop';
  return blocking.length > 0 || hasPause ? 'pass' : null;
};

/** The policy that the gateway must know of an account: null where nothing of it may be stopped. */
export const readPolicy = async (
  { rules, blocks, now }: Pick<PolicyDependencies, 'rules' | 'blocks' | 'now'>,
  accountId: string,
): Promise<BlockPolicy | null> =>
  policyOf(await rules.list(accountId), pausesOf(await blocks.read(accountId), now()).length > 0);

/** Brings the copies that the gateway reads in line with the account's rules and pauses. */
export const writePolicy = async (dependencies: PolicyDependencies, accountId: string): Promise<void> =>
  dependencies.blockCopies.write(accountId, await readPolicy(dependencies, accountId));
