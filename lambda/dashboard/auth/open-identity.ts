import type { Logger } from '@aws-lambda-powertools/logger';
import type * as z from 'zod/mini';
import type { Table } from '../../data/table/table.ts';
import type { identityEnvironment } from '../../environment.ts';
import { evenTiming } from './even-timing.ts';
import { type IdentityParts, openParts } from './open-parts.ts';
import { endSessions, findLogin, freeAddress, mailOwner, noteChange, notify, sendCode } from './steps.ts';

const withSteps = (parts: IdentityParts) => ({
  ...parts,
  findLogin: findLogin(parts),
  freeAddress: freeAddress(parts),
  mailOwner: mailOwner(parts),
  notify: notify(parts),
  sendCode: sendCode(parts),
  endSessions: endSessions(parts),
  noteChange: noteChange(parts),
  timing: evenTiming(parts.clock),
});

/**
 * The dependencies of the operations of the function `identity`.
 *
 * @param change replaces parts
 */
export const openIdentity = (
  table: Table,
  environment: z.infer<typeof identityEnvironment>,
  logger: Pick<Logger, 'error' | 'warn'>,
  change = (parts: IdentityParts): IdentityParts => parts,
) => withSteps(change(openParts(table, environment, logger)));

export type Identity = ReturnType<typeof openIdentity>;
