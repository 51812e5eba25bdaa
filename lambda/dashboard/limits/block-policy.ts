import type { Rule } from '../../data/alerts/rules.ts';
import { type BlockPolicy, unavailablePolicy } from '../../domain/limits/block.ts';
import { concernsGateway } from '../../domain/limits/limit-blocks.ts';
import { pausesOf } from '../../domain/limits/pauses.ts';
import type { Settings } from '../open-settings.ts';

/** True where the gateway has to know of a rule, and the recorder has it judged at once. */
export const mayBlock = ({ isActive, condition }: Pick<Rule, 'isActive' | 'condition'>): boolean =>
  isActive && (condition.type === 'burn_rate' || (condition.type === 'budget' && concernsGateway(condition.config)));

/** The policy while the blocks cannot be read. */
const policyOf = (rules: readonly Rule[], hasOthers: boolean): BlockPolicy | null => {
  const blocking = rules.filter(mayBlock);
  if (blocking.length === 0 && !hasOthers) return null;
  return unavailablePolicy(
    blocking.flatMap(({ condition }) => (condition.type === 'budget' ? (condition.config.block ?? []) : [])),
  );
};

/** The policy that the gateway must know of an account: null where nothing of it may be stopped. */
const readPolicy = async ({ rules, blocks, now }: Settings, accountId: string): Promise<BlockPolicy | null> => {
  const known = await blocks.read(accountId);
  const { items, unreadable } = await rules.listAll(accountId);
  // What a later version wrote may stop requests, too.
  const others =
    pausesOf(known, now()).length + known.access.length + unreadable.filter(({ isActive }) => isActive).length;
  return policyOf(items, others > 0);
};

/** Brings the copies that the gateway reads in line with the account's rules, pauses and access rules. */
export const writePolicy = async (dependencies: Settings, accountId: string): Promise<void> => {
  let written: BlockPolicy | null | undefined;
  // Again where somebody changed them meanwhile: the last to write may have read first.
  for (let policy = await readPolicy(dependencies, accountId); policy !== written; ) {
    await dependencies.blockCopies.write(accountId, policy);
    written = policy;
    policy = await readPolicy(dependencies, accountId);
  }
};
